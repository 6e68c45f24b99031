/** Whether everybody may name this id. `*` in a pattern is any text. Linear in the id. */
export function isShared(patterns: readonly string[], id: string): boolean {
  return patterns.some((pattern) => matches(pattern, id));
}

function matches(pattern: string, id: string): boolean {
  const pieces = pattern.split('*');
  const first = pieces[0] ?? '';
  if (pieces.length === 1) return id === first;
  const last = pieces.at(-1) ?? '';
  if (!id.startsWith(first)) return false;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = id.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return id.length - last.length >= at && id.endsWith(last);
}
