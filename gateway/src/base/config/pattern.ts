/** Each star costs time. */
const mostStars = 8;

/** Whether a name of the file is a pattern: `*` is any text, also none; everything else is literal. */
export function isPattern(name: string): boolean {
  return name.includes('*');
}

export function hasFewStars(pattern: string): boolean {
  return (pattern.match(/\*/g)?.length ?? 0) <= mostStars;
}

/** Linear in the text: the pieces between stars are searched in order. */
export function matchesPattern(pattern: string, text: string): boolean {
  const pieces = pattern.split('*');
  const first = pieces[0] ?? '';
  if (pieces.length === 1) return text === first;
  const last = pieces.at(-1) ?? '';
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const foundAt = text.indexOf(piece, at);
    if (foundAt === -1) return false;
    at = foundAt + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
