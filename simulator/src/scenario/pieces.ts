/**
 * Splits text as models stream it: a few characters at a time, never inside a surrogate pair.
 * `size` counts UTF-16 units. A piece exceeds it by one rather than split a pair.
 */
export function splitText(text: string, size: number): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length;) {
    const end = pairSafeEnd(text, start + size);
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

/** Splits into exactly `count` pieces. Those of a short text may be empty at the end. */
export function splitInto(text: string, count: number): string[] {
  const pieces = splitText(text, Math.max(1, Math.ceil(text.length / count)));
  while (pieces.length < count) pieces.push('');
  return pieces;
}

/** The first `length` units of the text, or one more rather than split a surrogate pair. */
export function cutText(text: string, length: number): string {
  return text.slice(0, pairSafeEnd(text, length));
}

function pairSafeEnd(text: string, end: number): number {
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code <= 0xdbff && end < text.length ? end + 1 : end;
}
