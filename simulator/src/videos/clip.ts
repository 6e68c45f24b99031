import { readFileSync } from 'node:fs';
import type { Endpoint } from '../http/call.ts';

/** A second of one colour, 64 × 36. */
const clip = readFileSync(new URL('clip.mp4', import.meta.url));

const folder = '/videos/';

/** The address of a task's video at this simulator. */
export function clipAddress(host: string | undefined, id: string): string {
  return `http://${host ?? ''}${folder}${id}.mp4?Expires=1790086400&Signature=simulated`;
}

/** `GET /videos/….mp4`, whole or one range, without a credential. */
export function clipAt(path: string): Endpoint | null {
  if (!path.startsWith(folder) || !path.endsWith('.mp4')) return null;
  return ({ headers }) => {
    const type = { 'content-type': 'video/mp4', 'accept-ranges': 'bytes' };
    const range = /^bytes=(\d{1,9})-(\d{0,9})$/.exec(headers.range ?? '');
    if (range === null) {
      return { status: 200, headers: type, body: { kind: 'whole', bytes: clip } };
    }
    const first = Number(range[1]);
    const last = Math.min(range[2] === '' ? Infinity : Number(range[2]), clip.length - 1);
    if (first > last) {
      const none = { 'content-range': `bytes */${clip.length}` };
      return { status: 416, headers: none, body: { kind: 'whole', bytes: '' } };
    }
    const part = { ...type, 'content-range': `bytes ${first}-${last}/${clip.length}` };
    return {
      status: 206,
      headers: part,
      body: { kind: 'whole', bytes: clip.subarray(first, last + 1) },
    };
  };
}
