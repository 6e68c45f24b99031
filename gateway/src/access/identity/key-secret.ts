import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const maxLength = 512;
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 40;
/** Secret scanners look for it; only letters and digits, so that a double click takes a whole key. */
const mark = 'sluice';
const form = /^sk-[0-9A-Za-z]{40}sluice[0-9A-Za-z]{6}$/;

/**
 * A new client key: `sk-`, 40 random letters and digits (238 bits), `sluice`, and a checksum of all that in six more. How
 * others verify it is described in `docs/configuration.md`.
 */
export function createKeySecret(): string {
  const text = `sk-${randomDigits(randomLength)}${mark}`;
  return text + checksum(text);
}

/** Whether the text can be a client key at all; anything else needs no look-up. */
export function isKeySecret(text: string): boolean {
  return text.length <= maxLength && /^sk-[\x21-\x7e]+$/.test(text);
}

/**
 * A key of the form that is created, cut off or mistyped: no such key was ever created. Somebody may still have chosen it
 * for a key in the file, so it is unknown only if it is not in memory.
 */
export function isMistyped(secret: string): boolean {
  return form.test(secret) && checksum(secret.slice(0, -6)) !== secret.slice(-6);
}

/** What may be shown of a secret: `sk-AbCd…wxyz`. */
export function displayPrefix(secret: string): string {
  return `${secret.slice(0, 7)}…${secret.slice(-4)}`;
}

/** CRC-32 (as in gzip) in base 62, most significant digit first. */
function checksum(text: string): string {
  let rest = crc32(text);
  let result = '';
  for (let place = 0; place < 6; place += 1) {
    result = digits.charAt(rest % 62) + result;
    rest = Math.floor(rest / 62);
  }
  return result;
}

/** Each of the 62 as likely as the next: the bytes that would favour some are left out. */
function randomDigits(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += digits.charAt(byte % 62);
    }
  }
  return text;
}
