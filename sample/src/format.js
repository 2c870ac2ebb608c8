/** Cents as a person writes them: 570 is "5.70". */
export function formatMoney(cents) {
  return (cents / 100).toFixed(2);
}
