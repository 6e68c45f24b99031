import { randomFillSync } from 'node:crypto';

const bytesPerId = 12;
const pool = Buffer.alloc(bytesPerId * 256);
let offset = pool.length;

/** The 64 URL-safe characters in ASCII order, so that text sorts as the number does. */
const sorted = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
let prefixTime = -1;
let prefix = '';

/**
 * `req_` and 24 URL-safe characters: 8 of the time in milliseconds, 16 of 96 random bits (drawn in batches, because
 * every request needs them). Ids that sort by time are rows that are appended: with random ones every usage row
 * touches another page of the table's index.
 */
export function createRequestId(): string {
  if (offset === pool.length) {
    randomFillSync(pool);
    offset = 0;
  }
  const start = offset;
  offset += bytesPerId;
  const time = Date.now();
  if (time !== prefixTime) {
    prefixTime = time;
    prefix = `req_${sortableTime(time)}`;
  }
  return prefix + pool.toString('base64url', start, offset);
}

/** 48 bits, six at a time. */
function sortableTime(time: number): string {
  let text = '';
  for (let rest = time, digits = 0; digits < 8; digits += 1) {
    text = sorted.charAt(rest % 64) + text;
    rest = Math.floor(rest / 64);
  }
  return text;
}
