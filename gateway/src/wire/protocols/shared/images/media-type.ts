/** The first characters of each format in base64, and what says the same of more than one format. */
const beginnings: readonly (readonly [start: string, type: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['JVBERi0', 'application/pdf'],
];

/** A file of this kind names its format after eight bytes. */
const riff = 'UklGR';
const riffFormats: ReadonlyMap<string, string> = new Map([
  ['WEBP', 'image/webp'],
  ['WAVE', 'audio/wav'],
]);

/** Common misspellings of registered names. "Unsupported MIME type: image/jpg": https://github.com/ogkalu2/comic-translate/pull/399 */
const registered: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/pjpeg', 'image/jpeg'],
  ['image/x-png', 'image/png'],
  ['application/x-pdf', 'application/pdf'],
]);

/** Says nothing of the format. */
const anything = 'application/octet-stream';

/** The media type that the first bytes show; null for an unknown format. */
function shownType(base64: string): string | null {
  if (base64.startsWith(riff)) {
    const format = Buffer.from(base64.slice(0, 16), 'base64').toString('latin1', 8, 12);
    return riffFormats.get(format) ?? null;
  }
  return beginnings.find(([start]) => base64.startsWith(start))?.[1] ?? null;
}

/**
 * The media type of data by its bytes, if they are of the kind that is expected, and in its registered spelling.
 * @param kind `image`, say; absent: the declared one
 */
export function fittingType<Declared>(
  declared: Declared,
  base64: string,
  kind = kindOf(String(declared)),
): Declared | string {
  const typeInBytes = shownType(base64);
  if (typeInBytes !== null && (kindOf(typeInBytes) === kind || declared === anything))
    return typeInBytes;
  return registered.get(String(declared)) ?? declared;
}

/** `image` of `image/png`. */
function kindOf(type: string): string {
  return type.slice(0, type.indexOf('/'));
}

/** Lines end after 64 or 76 characters, or there is one at the end. */
const longestLine = 80;

/** Whether the text is something beside base64 in its standard form: a data URL, or lines. */
export function isDressed(text: string): boolean {
  return text.startsWith('data:') || /\s/.test(text.slice(0, longestLine) + text.slice(-2));
}

/** The base64 in a data URL or in lines. */
export function undressed(text: string): string {
  return text.replace(/^data:[^,]*,/, '').replace(/\s+/g, '');
}

/** Endings that are not the second half of the media type. */
const endings: Readonly<Record<string, string>> = {
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/javascript': 'js',
  'text/x-python': 'py',
  'application/msword': 'doc',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.ms-powerpoint': 'ppt',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
};

/** A name for a file that has none: OpenAI tells by its ending what an inline file is. */
export function fileName(mime: string): string {
  const type = mime.toLowerCase().split(';', 1)[0]?.trim() ?? '';
  return `file.${endings[type] ?? type.split('/')[1] ?? 'bin'}`;
}
