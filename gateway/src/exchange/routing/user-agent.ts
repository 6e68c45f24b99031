/**
 * Whether a client's User-Agent matches one of a channel's globs. `*` stands for any run of characters, `?` for one;
 * everything else is literal and case-insensitive. Linear in the text: the pieces between stars are searched in order.
 * A client can send any header, so this is routing, never security.
 */
export function matchesUserAgent(globs: readonly string[], userAgent: string): boolean {
  const text = userAgent.toLowerCase();
  return globs.some((glob) => matchesGlob(glob.toLowerCase(), text));
}

function matchesGlob(glob: string, text: string): boolean {
  const pieces = glob.split('*');
  const first = pieces[0] ?? '';
  if (pieces.length === 1) return text.length === first.length && standsAt(first, text, 0);
  const last = pieces[pieces.length - 1] ?? '';
  if (!standsAt(first, text, 0)) return false;
  let position = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const foundAt = find(piece, text, position);
    if (foundAt === -1) return false;
    position = foundAt + piece.length;
  }
  const end = text.length - last.length;
  return end >= position && standsAt(last, text, end);
}

/** The first position of a piece at or after `from`, or -1. */
function find(piece: string, text: string, from: number): number {
  if (!piece.includes('?')) return text.indexOf(piece, from);
  for (let start = from; start + piece.length <= text.length; start += 1) {
    if (standsAt(piece, text, start)) return start;
  }
  return -1;
}

function standsAt(piece: string, text: string, start: number): boolean {
  if (!piece.includes('?')) return text.startsWith(piece, start);
  if (start + piece.length > text.length) return false;
  for (let at = 0; at < piece.length; at += 1) {
    if (piece[at] !== '?' && piece[at] !== text[start + at]) return false;
  }
  return true;
}
