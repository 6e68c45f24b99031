import { type Edit, type JsonScan, type ObjectRange, splice } from '#json/index.ts';
import { isRecord, type JsonRecord } from '../values.ts';
import { refuseValue } from '../text/request-values.ts';

/** What the dialects of video tasks have in common. */

/**
 * How servers call the number of videos. A submit is charged for one. Sources: Model Studio (`n`; `video_count` of its
 * usage), Vertex AI (`sampleCount`), google-genai (`numberOfVideos`), diffusers (`num_videos_per_prompt`), and the
 * spellings of these that compatible servers take.
 */
const videoCounts = [
  'n',
  'video_count',
  'num_videos',
  'num_videos_per_prompt',
  'number_of_videos',
  'numberOfVideos',
  'sample_count',
  'sampleCount',
] as const;

/**
 * Refuses a request for more than one video.
 * @param path of the object, with its dot: `parameters.`; empty for the body
 * @throws GatewayError `invalid_value`
 */
export function requireOneVideo(object: unknown, path: string): void {
  if (!isRecord(object)) return;
  const name = videoCounts.find((count) => Number(object[count]) > 1);
  if (name !== undefined) refuseValue(path + name, 'must be 1: a request is for one video');
}

/** @throws GatewayError `invalid_value` for anything but an integer of the range. */
export function requireInteger(value: unknown, param: string, from: number, to: number): number {
  const fits = typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to;
  return fits ? value : refuseValue(param, `must be an integer from ${from} to ${to}`);
}

/** The parts of a `data:` URL with Base64; null if it is not one. Linear in the text. */
export function readDataUrl(text: string): { readonly type: string; readonly data: string } | null {
  const comma = text.indexOf(',', 0);
  // The head is short; a text without a comma would be searched to its end, once.
  if (comma < 0 || comma > 200) return null;
  const head = /^data:([a-z]+\/[\w.+-]+);base64$/i.exec(text.slice(0, comma));
  if (head === null) return null;
  const data = text.slice(comma + 1);
  return isBase64(data) ? { type: head[1]!.toLowerCase(), data } : null;
}

/** Whether a text is Base64 with its padding, and not empty. */
function isBase64(text: string): boolean {
  if (text === '' || text.length % 4 !== 0) return false;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const digits = padding === 0 ? text : text.slice(0, -padding);
  return /^[A-Za-z0-9+/]+$/.test(digits);
}

/** The first bytes of a file in Base64. */
export function firstBytes(base64: string, count: number): Buffer {
  return Buffer.from(base64.slice(0, Math.ceil(count / 3) * 4), 'base64').subarray(0, count);
}

/** Inserts members before all others of an object. At most once for each object. */
export function insertMembers(object: ObjectRange, members: JsonRecord): Edit[] {
  const entries = Object.entries(members);
  if (entries.length === 0) return [];
  const list = entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  const text = list.join(',') + (object.empty ? '' : ',');
  return [{ start: object.start, end: object.start, bytes: Buffer.from(text) }];
}

/** The edited body before and after the value of `model`, which is in the body and is touched by no edit. */
export function aroundModel(body: Buffer, scan: JsonScan, edits: readonly Edit[]) {
  const { valueStart, valueEnd } = scan.members.get('model')!;
  const isBefore = ({ end }: Edit): boolean => end <= valueStart;
  const later = edits
    .filter((edit) => !isBefore(edit))
    .map(({ start, end, bytes }) => ({ start: start - valueEnd, end: end - valueEnd, bytes }));
  return {
    before: splice(body.subarray(0, valueStart), edits.filter(isBefore)),
    after: splice(body.subarray(valueEnd), later),
  };
}
