import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const maxLength = 512;
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 40;
/** Secret scanners search for it. Only letters and digits, so that a double click selects the whole key. */
const mark = 'sluice';
const form = /^s[ka]-[0-9A-Za-z]{40}sluice[0-9A-Za-z]{6}$/;

/**
 * A new client key: `sk-`, 40 random letters and digits (238 bits), `sluice`, and a six-character checksum of all that.
 * `docs/configuration.md` describes how others verify it.
 */
export function createKeySecret(): string {
  return keySecretOf(() => randomBytes(randomLength));
}

/** A new admin key: the same behind `sa-`. */
export function createAdminKeySecret(): string {
  return keySecretOf(() => randomBytes(randomLength), 'sa-');
}

/** Whether the text can be an admin key: all of them were created here. */
export const isAdminKeySecret = (text: string): boolean =>
  text.startsWith('sa-') && form.test(text) && !isMistyped(text);

/** A secret in the same form that is always the same for the same bytes. @param more bytes, as often as it is called */
export function keySecretOf(more: () => Buffer, prefix = 'sk-'): string {
  const text = `${prefix}${digitsOf(more)}${mark}`;
  return text + checksum(text);
}

/** Whether the text can be a client key; anything else needs no look-up. */
export function isKeySecret(text: string): boolean {
  return text.length <= maxLength && /^sk-[\x21-\x7e]+$/.test(text);
}

/**
 * Whether it has the form of a created key but was truncated or mistyped: no such key was ever created. A key in the
 * file may still have it as its secret, so it is unknown only if it is not in memory.
 */
export function isMistyped(secret: string): boolean {
  return form.test(secret) && checksum(secret.slice(0, -6)) !== secret.slice(-6);
}

/** The displayable part of a secret: `sk-AbCd…wxyz`. */
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

/** All 62 digits are equally likely: bytes that would favour some are discarded. */
function digitsOf(more: () => Buffer): string {
  let text = '';
  while (text.length < randomLength) {
    for (const byte of more()) {
      if (byte < 248 && text.length < randomLength) text += digits.charAt(byte % 62);
    }
  }
  return text;
}
