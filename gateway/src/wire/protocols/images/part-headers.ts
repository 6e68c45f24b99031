import { isUtf8 } from 'node:buffer';
import { GatewayError } from '#errors/index.ts';
import { parametersOf } from './parameters.ts';

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
