import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/*
 * Codes by time, as authenticator apps make them: RFC 6238 over HMAC-SHA-1, six digits, a new one every 30 seconds.
 */

/** Milliseconds for which a code is shown. */
const stepLength = 30_000;
/** Steps that the clock of a phone may be ahead or behind. */
const drift = 1;
const digits = 6;
/** Bytes, as RFC 4226 recommends. */
const secretLength = 20;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** A new secret, in base32 as apps take it. */
export const newTotpSecret = (): string => encodeBase32(randomBytes(secretLength));

/** The code of a step, which counts from the beginning of 1970. */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const hash = createHmac('sha1', decodeBase32(secret)).update(counter).digest();
  const offset = hash[hash.length - 1]! & 0x0f;
  const number = hash.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/** The step of a time. @param time Unix milliseconds */
export const totpStep = (time: number): number => Math.floor(time / stepLength);

/**
 * The step whose code this is, if it may be used: near enough, and after the last one that was.
 * @param now Unix milliseconds
 * @returns null for any other code
 */
export function acceptedStep(
  secret: string,
  code: string,
  { now, lastStep }: { readonly now: number; readonly lastStep: number },
): number | null {
  const sent = Buffer.from(code);
  const current = totpStep(now);
  let accepted: number | null = null;
  // All of them, so that the time says nothing.
  for (let step = current - drift; step <= current + drift; step += 1) {
    const expected = Buffer.from(totpCode(secret, step));
    const isSame = sent.length === expected.length && timingSafeEqual(sent, expected);
    if (isSame && step > lastStep) accepted ??= step;
  }
  return accepted;
}

/** What apps read from a picture. @param host of the gateway, which the app shows */
export function otpauthUri(secret: string, email: string, host: string): string {
  const issuer = `Sluice (${host})`;
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`;
}

const recoveryCodes = 10;
/** Letters and digits, without the dash. */
export const recoveryCodeLength = 10;

/** Codes for the time without the phone. Each has 50 random bits. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: recoveryCodes }, () => {
    const text = encodeBase32(randomBytes(7)).slice(0, recoveryCodeLength).toLowerCase();
    return `${text.slice(0, 5)}-${text.slice(5)}`;
  });

/** What people type: with spaces, without the dash, in capitals. */
export const plainCode = (typed: string): string => typed.replaceAll(/[\s-]/g, '').toLowerCase();

export function encodeBase32(bytes: Uint8Array): string {
  let [text, bits, value] = ['', 0, 0];
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet[(value >> bits) & 31];
    }
  }
  return bits === 0 ? text : text + alphabet[(value << (5 - bits)) & 31];
}

function decodeBase32(text: string): Buffer {
  const bytes: number[] = [];
  let [bits, value] = [0, 0];
  for (const letter of text) {
    value = ((value << 5) | alphabet.indexOf(letter)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 0xff);
  }
  return Buffer.from(bytes);
}
