/** One part of a form, in the order received. */
export interface FormPart {
  readonly name: string;
  /** Null for a field. A file has a name, which may be empty. */
  readonly filename: string | null;
  /** As declared; '' if the part declares none. */
  readonly contentType: string;
  readonly bytes: Buffer;
}

export function isForm(contentType: string | undefined): boolean {
  return (contentType ?? '').trim().toLowerCase().startsWith('multipart/form-data');
}

const lineEnd = '\r\n';

/** Parses a multipart body as the standard writes it. Returns a sentence for any other. */
export function parseForm(body: Buffer, contentType: string): readonly FormPart[] | string {
  const boundary = boundaryOf(contentType);
  if (boundary === '') return 'The form has no boundary.';
  const delimiter = `--${boundary}`;
  const parts: FormPart[] = [];
  let at = startOf(body, delimiter);
  if (at < 0) return 'The body does not contain the boundary of the form.';
  for (;;) {
    at += delimiter.length;
    if (body.toString('latin1', at, at + 2) === '--') return parts;
    while (body[at] === 0x20 || body[at] === 0x09) at++;
    if (body.toString('latin1', at, at + 2) !== lineEnd) return 'A boundary line is too long.';
    const headEnd = body.indexOf(`${lineEnd}${lineEnd}`, at);
    const end = headEnd < 0 ? -1 : body.indexOf(`${lineEnd}${delimiter}`, headEnd + 4);
    if (end < 0) return 'The form ends before its last boundary.';
    const head = readHead(body.toString('utf8', at + 2, headEnd));
    if (typeof head === 'string') return head;
    parts.push({ ...head, bytes: body.subarray(headEnd + 4, end) });
    at = end + 2;
  }
}

function boundaryOf(contentType: string): string {
  const value = parameterOf(contentType, 'boundary') ?? '';
  return /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/.test(value) ? value : '';
}

/** Text before the first boundary is allowed and means nothing. */
function startOf(body: Buffer, delimiter: string): number {
  if (body.toString('latin1', 0, delimiter.length) === delimiter) return 0;
  const at = body.indexOf(`${lineEnd}${delimiter}`);
  return at < 0 ? -1 : at + 2;
}

function readHead(text: string): Omit<FormPart, 'bytes'> | string {
  let disposition: string | undefined;
  let contentType = '';
  for (const line of text.split(lineEnd)) {
    const colon = line.indexOf(':');
    if (colon < 1) return 'A part of the form has a malformed header.';
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === 'content-disposition') disposition = value;
    if (name === 'content-type') contentType = value;
  }
  if (disposition?.split(';', 1)[0]?.trim().toLowerCase() !== 'form-data') {
    return 'A part of the form has no Content-Disposition: form-data.';
  }
  const name = parameterOf(disposition, 'name');
  if (name === undefined || name === '') return 'A part of the form has no name.';
  return { name, filename: parameterOf(disposition, 'filename') ?? null, contentType };
}

/** A parameter of a header, in quotes or without. In quotes, a backslash and `%22` stand for quotes. */
function parameterOf(header: string, name: string): string | undefined {
  for (let at = header.indexOf(';'); at >= 0;) {
    const equals = header.indexOf('=', at);
    if (equals < 0) return undefined;
    const key = header
      .slice(at + 1, equals)
      .trim()
      .toLowerCase();
    const { value, end } = readValue(header, equals + 1);
    if (key === name) return value;
    at = header.indexOf(';', end);
  }
  return undefined;
}

function readValue(header: string, start: number): { value: string; end: number } {
  if (header[start] !== '"') {
    const semicolon = header.indexOf(';', start);
    const end = semicolon < 0 ? header.length : semicolon;
    return { value: header.slice(start, end).trim(), end };
  }
  let value = '';
  let at = start + 1;
  for (; at < header.length && header[at] !== '"'; at++) {
    if (header[at] === '\\' && header[at + 1] === '"') at++;
    value += header[at] ?? '';
  }
  const decoded = value.replaceAll('%22', '"').replaceAll('%0D%0A', lineEnd);
  return { value: decoded, end: at + 1 };
}
