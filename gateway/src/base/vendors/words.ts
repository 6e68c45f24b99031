import { failureFields } from './find-fault.ts';

/** What of an upstream's words is kept, in bytes. */
const longestWords = 2_048;
/** Anything shorter would be found in every text. */
const shortestSecret = 8;
/** Characters that are read. */
const longestRead = 8_192;

/**
 * An upstream's own words about its failure: the most exact code and the message. Null: it has none in the form of an
 * error. A page or other text is not repeated: the address may be that of a service which is not meant to be read.
 */
export function wordsOf(body: unknown): string | null {
  if (body === null || typeof body !== 'object') return null;
  const { words, message } = failureFields({ body });
  const code = words.find((word) => /^(?!\d+$)[\w.-]{1,80}$/.test(word));
  const parts = [code, message].filter((part) => part !== undefined && part !== '');
  return parts.length === 0 ? null : parts.join(': ').slice(0, longestRead);
}

/** What separates the pieces of a text that are looked at one by one; Chinese writes names and numbers without blanks. */
const separators = /([\s'"`()<>[\]{},;=|\u3000-\u9fff\uff00-\uffef]+)/;
/** Longer pieces and quotations are what the client wrote, or nothing that anybody reads. */
const longestPiece = 120;

/**
 * Words without what is nobody's business: keys, addresses, organisations, e-mail addresses, and what the client wrote.
 * At most 2 KiB.
 * @param secrets what is in no text whatever its form: credentials and other headers of the channel
 * @param host that of the channel's address
 */
export function cleanWords(words: string, secrets: readonly string[], host: string): string {
  let text = withoutQuotations(words.slice(0, longestRead).toWellFormed());
  for (const secret of secrets) {
    if (secret.length >= shortestSecret) text = text.replaceAll(secret, '[key]');
  }
  let said = '';
  const pieces = text.split(separators);
  for (const [at, piece] of pieces.entries()) {
    // The separators stand between them.
    if (at % 2 === 1) said += piece;
    else {
      const end = endOf(piece);
      said += `${instead(piece.slice(0, end), said)}${piece.slice(end)}`;
    }
  }
  said = said.replaceAll(host, '[address]');
  // oxlint-disable-next-line no-control-regex -- they would break the lines of a list
  return cut(said.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ').trim());
}

/** Without what the client has sent: pydantic repeats it behind `input`, and others in long quotations. */
function withoutQuotations(text: string): string {
  const input = ["'input':", '"input":'].map((name) => text.indexOf(name)).filter((at) => at >= 0);
  let rest = input.length === 0 ? text : `${text.slice(0, Math.min(...input))}'input': …`;
  let said = '';
  for (;;) {
    const begin = rest.search(/['"`]/);
    if (begin < 0) return said + rest;
    const end = rest.indexOf(rest.charAt(begin), begin + 1);
    const isLong = end - begin > longestPiece;
    said += rest.slice(0, begin + 1);
    if (isLong) said += `…${rest.charAt(end)}`;
    rest = rest.slice(isLong ? end + 1 : begin + 1);
  }
}

/** Where the marks behind a piece begin. */
function endOf(piece: string): number {
  let end = piece.length;
  while (end > 0 && '.:!?'.includes(piece.charAt(end - 1))) end -= 1;
  return end;
}

/** What stands in a text for one piece of it, usually itself. @param before the text so far */
function instead(piece: string, before: string): string {
  if (piece.length > longestPiece) return '…';
  if (piece.includes('://')) return '[address]';
  if (piece.includes('@')) return '[e-mail]';
  if (/^arn:/i.test(piece)) return '[organisation]';
  if (isKey(piece) || / bearer $/i.test(` ${before.slice(-8)}`)) return '[key]';
  if (uuid.test(piece)) return '[id]';
  if (isAddress(piece)) return '[address]';
  if (organisation.test(piece)) return '[organisation]';
  if (/\d/.test(piece) && piece.length >= 4 && isHolder(before)) return '[organisation]';
  const [kind = '', name, ...rest] = piece.split('/');
  if (name !== undefined && collections.has(kind.toLowerCase())) {
    return [kind, '[organisation]', ...rest].join('/');
  }
  return isOpaque(piece) ? '[id]' : piece;
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const organisation = /^(?:org|proj|acct|wrkspc)[-_][A-Za-z\d]{6,}$/;
const collections = new Set(['projects', 'organizations', 'accounts', 'tenants', 'subscriptions']);

/** How keys of vendors begin, and what stands in them for what is left out. */
const keyBeginnings = [
  'sk-',
  'sk_',
  'pk-',
  'rk-',
  'ak-',
  'gsk_',
  'xai-',
  'hf_',
  'nvapi-',
  'tp-',
  'csk-',
];
const otherKeyBeginnings = ['AIza', 'AKIA', 'ASIA', 'ya29.', 'eyJ', 'fw_', 'pplx-', 'key-'];

function isKey(piece: string): boolean {
  if (piece.includes('**') || piece.includes('•') || piece.slice(0, -1).includes('…')) return true;
  const lowerCase = piece.toLowerCase();
  return (
    piece.length >= 8 &&
    (keyBeginnings.some((begin) => lowerCase.startsWith(begin)) ||
      otherKeyBeginnings.some((begin) => piece.startsWith(begin)))
  );
}

/** The last labels of names of hosts; others are paths of members, or versions. */
const lastLabels = new Set(
  'com net org io ai dev cn eu de uk us local internal lan corp cloud svc test example'.split(' '),
);

function isAddress(piece: string): boolean {
  const [place = ''] = piece.split('/', 1);
  const parts = place.split(':');
  const isNumeric = parts.every((part) => /^[\da-f]{0,4}$/i.test(part));
  if (parts.length > 3 && isNumeric) return true;
  const [name = '', port] = parts;
  const labels = name.split('.');
  if (labels.length === 4 && labels.every((label) => /^\d{1,3}$/.test(label))) return true;
  if (parts.length === 2 && /^\d{2,5}$/.test(port ?? '')) {
    return labels.length > 1 || name.toLowerCase() === 'localhost';
  }
  return labels.length > 1 && lastLabels.has(labels.at(-1)?.toLowerCase() ?? '');
}

/** Words before the name or number of somebody's account. */
const holders =
  /\b(?:organi[sz]ation|project|account|team|tenant|subscription|workspace|customer|user)(?:[ _-](?:id|number|name))?[\s:=#'"`(<[]{1,4}$/i;

const isHolder = (before: string): boolean => holders.test(before.slice(-40));

/** Numbers and signs without a word in them. */
function isOpaque(piece: string): boolean {
  if (/^\d{10,}$/.test(piece)) return true;
  return piece.length >= 20 && /^\w+$/.test(piece) && /\d/.test(piece) && /[A-Za-z]/.test(piece);
}

function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= longestWords) return text;
  let end = longestWords - 3;
  // Not in the middle of a character.
  while ((bytes.at(end) ?? 0) >> 6 === 0b10) end -= 1;
  return `${bytes.subarray(0, end).toString()}…`;
}
