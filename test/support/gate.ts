/** A promise to hold something with, and what lets it go. */
export function gate(): { readonly held: Promise<void>; readonly open: () => void } {
  let open = () => {};
  const held = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { held, open };
}
