/** Values that documentation, examples and other products ship, so everybody knows them. */
const samples = new Set(
  [
    'admin',
    'admin123',
    'administrator',
    'changeme',
    'change-me',
    'change_me',
    'default',
    'letmein',
    'master-key',
    'password',
    'password123',
    'placeholder',
    'qwerty',
    'replace-me',
    'root',
    'secret',
    'sk-1234',
    'test',
    'test-token',
    'todo',
    '123456',
    '12345678',
    '123456789',
    '1234567890',
  ].map((text) => text.toLowerCase()),
);

/** True for a well-known sample, or a placeholder that somebody forgot to replace. */
export function isSampleSecret(secret: string): boolean {
  const text = secret.trim().toLowerCase();
  const body = text.replace(/^sk-/, '');
  return (
    samples.has(text) ||
    samples.has(body) ||
    /^[x0*.…_-]+$/.test(body) ||
    /^0?123456789\d*$/.test(body) ||
    /^<.*>$/.test(text) ||
    /(^|[^a-z])(your|my)[-_ ]?(api|secret|own)?[-_ ]?(key|token|secret|password)/.test(text) ||
    /change[-_ ]?me|replace[-_ ]?(me|this)/.test(text)
  );
}

/** A secret with fewer bits could be found by guessing. */
export const enoughBits = 128;

/**
 * Estimates the random bits of a secret: for each character the bits of its alphabet, one bit if it continues a row or
 * repeats earlier text, and for each word the bits of a word list. Randomness cannot be proven; the estimate catches
 * secrets that were typed.
 */
export function seemingBits(secret: string): number {
  const text = secret.replace(/^sk-/, '');
  const parts = text.split(/[-_.]/).filter(Boolean);
  if (parts.length >= 3 && parts.every(isWord)) return parts.length * bitsOfWord;
  const each = Math.log2(alphabetOf(text));
  const seenCharacters = new Set<string>();
  let bits = 0;
  for (let at = 0; at < text.length; at += 1) {
    const three = text.slice(at - 2, at + 1);
    const isGuessed = at >= 2 && (isRow(three) || seenCharacters.has(three));
    bits += isGuessed ? 1 : each;
    if (at >= 2) seenCharacters.add(three);
  }
  return bits;
}

/** From a list of 7 776 words, as for dice. */
const bitsOfWord = Math.log2(7776);

function isWord(part: string): boolean {
  return /^[A-Z]?[a-z]{1,14}$|^[A-Z]{2,15}$/.test(part);
}

/** `abc`, `321`, `aaa`. */
function isRow(three: string): boolean {
  const step = three.charCodeAt(1) - three.charCodeAt(0);
  return Math.abs(step) <= 1 && three.charCodeAt(2) - three.charCodeAt(1) === step;
}

/** The number of characters in the alphabet of the text. */
function alphabetOf(text: string): number {
  if (/^\d*$/.test(text)) return 10;
  if (/^(?:[\da-f]*|[\dA-F]*)$/.test(text)) return 16;
  let size = 0;
  if (/[a-z]/.test(text)) size += 26;
  if (/[A-Z]/.test(text)) size += 26;
  if (/\d/.test(text)) size += 10;
  if (/[^\da-zA-Z]/.test(text)) size += 2;
  return size;
}
