import { randomFillSync } from 'node:crypto';

const bytesPerId = 12;
const pool = Buffer.alloc(bytesPerId * 256);
let offset = pool.length;

/** The 64 URL-safe characters in ASCII order, so that the text sorts like the number. */
const sortedCharacters = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
let prefixTime = -1;
let prefix = '';

/**
 * `req_` and 24 URL-safe characters: 8 for the time in milliseconds, 16 for 96 random bits (drawn in batches, because
 * every request needs them). Ids that sort by time append rows at the end of an index; random ids would touch another
 * page of the index for every usage row.
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
    text = sortedCharacters.charAt(rest % 64) + text;
    rest = Math.floor(rest / 64);
  }
  return text;
}
