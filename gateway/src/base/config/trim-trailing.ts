/** The text without the characters of one kind at its end. One pass: `/x+$/` takes the square of a run of them. */
export function trimTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
