import { isUtf8 } from 'node:buffer';
import { GatewayError } from '#errors/index.ts';

/** A header's value with its parameters, such as `form-data; name="image"`. */
interface ParameterizedValue {
  /** In lower case. */
  readonly value: string;
  /** By name in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
}

const token = /^[!#$%&'*+./^_`|~0-9A-Za-z-]+$/;
/** Some clients write brackets of names and signs of boundaries without quotes. */
const plainValue = /^[^\s",\\]+$/;

/** Null if the text could be read in two ways: a broken value, or a parameter that stands twice. */
export function parametersOf(text: string): ParameterizedValue | null {
  let at = endOf(text, 0);
  const value = text.slice(0, at).trim().toLowerCase();
  if (!token.test(value)) return null;
  const parameters = new Map<string, string>();
  while (at < text.length) {
    const equals = text.indexOf('=', at + 1);
    // A last semicolon without a parameter means nothing.
    if (equals < 0) return text.slice(at + 1).trim() === '' ? { value, parameters } : null;
    const name = text
      .slice(at + 1, equals)
      .trimStart()
      .toLowerCase();
    const isQuoted = text[equals + 1] === '"';
    const end = isQuoted ? quoteEnd(text, equals + 1) : endOf(text, equals + 1);
    const writtenValue = isQuoted
      ? text.slice(equals + 2, end - 1)
      : text.slice(equals + 1, end).trimEnd();
    const isKnown = token.test(name) && (isQuoted || plainValue.test(writtenValue));
    if (!isKnown || end > text.length || parameters.has(name)) return null;
    // An escape means another character to some readers and a backslash to others: only a file may be called so.
    if (writtenValue.includes('\\') && name !== 'filename') return null;
    parameters.set(name, writtenValue);
    at = endOf(text, end);
    if (text.slice(end, at).trim() !== '') return null;
  }
  return { value, parameters };
}

/** Where a part that is not quoted ends. */
function endOf(text: string, from: number): number {
  const separatorAt = text.indexOf(';', from);
  return separatorAt < 0 ? text.length : separatorAt;
}

/** One past the quote that closes the one at `open`; beyond the text if none does. */
function quoteEnd(text: string, open: number): number {
  let at = open + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** Encodings that leave the content as it is. */
const identities: readonly string[] = ['7bit', '8bit', 'binary'];

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * The name in the headers of a part, and whether they name a file.
 * @throws GatewayError `invalid_value` for headers that could be read in two ways
 */
export function readPartHeaders(bytes: Buffer): { name: string; isFile: boolean } {
  if (!isUtf8(bytes)) throw broken('the headers of a part of the form are not UTF-8');
  let disposition: string | null = null;
  for (const line of bytes.toString('utf8').split('\r\n')) {
    const colon = line.indexOf(':');
    const header = line.slice(0, Math.max(0, colon));
    const value = line.slice(colon + 1);
    if (!headerName.test(header) || hasControls(value)) {
      throw broken('a part of the form has a broken header');
    }
    switch (header.toLowerCase()) {
      case 'content-disposition':
        if (disposition !== null) throw broken('a part of the form has two dispositions');
        disposition = value;
        break;
      case 'content-transfer-encoding':
        if (!identities.includes(value.trim().toLowerCase())) {
          throw broken('the parts of a form must not be encoded');
        }
        break;
      default:
    }
  }
  return readDisposition(disposition ?? '');
}

function readDisposition(disposition: string): { name: string; isFile: boolean } {
  const read = parametersOf(disposition);
  const name = read?.parameters.get('name');
  if (read?.value !== 'form-data' || name === undefined || read.parameters.has('name*')) {
    throw broken('a part of the form has no name');
  }
  const { parameters } = read;
  return { name, isFile: parameters.has('filename') || parameters.has('filename*') };
}

function hasControls(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if ((unit < 0x20 && unit !== 0x09) || unit === 0x7f) return true;
  }
  return false;
}

/** Says what is wrong with a form. */
export function broken(reason: string): GatewayError {
  return new GatewayError('invalid_value', {
    values: { reason: `invalid request body: ${reason}` },
  });
}
