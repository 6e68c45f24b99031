/** Removes all characters of one kind from the end of a text. One pass: `/x+$/` takes quadratic time on long runs. */
export function trimTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
