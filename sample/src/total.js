/** The sum of some amounts, in cents so that no fraction gets lost. */
export function total(coins) {
  let cents = 0;
  for (let i = 1; i < coins.length; i++) {
    cents += Math.round(coins[i] * 100);
  }
  return cents;
}
