import type { VideoResolution } from '#canonical/index.ts';
import {
  type Edit,
  type JsonScan,
  type MemberRange,
  parseObject,
  type ParseRoom,
  insertMember,
  replaceValue,
  watchList,
} from '#json/index.ts';
import {
  readModel,
  refuseValue,
  requireRecord,
  requireString,
} from '../shared/text/request-values.ts';
import { isPublicUrl } from '../shared/images/public-address.ts';
import { isAbsent, type JsonRecord } from '../shared/values.ts';
import {
  aroundModel,
  firstBytes,
  insertMembers,
  readDataUrl,
  requireInteger,
  requireOneVideo,
} from '../shared/video/video-values.ts';
import type { OpenVideo, VideoRequest } from '../shared/video/video.ts';

const watched = watchList([
  'model',
  'input.prompt',
  'input.img_url',
  'input.audio_url',
  'parameters.duration',
  'parameters.resolution',
  'parameters.size',
  'parameters.prompt_extend',
]);

const usualSeconds = 5;

/**
 * Reads a request up to its model.
 * @throws GatewayError `invalid_body`, `too_complex`, `duplicate_key`, `model_required`, and what `room` throws
 */
export function openRequest(body: Buffer, room?: ParseRoom): OpenVideo {
  const { scan, value } = parseObject(body, watched, room);
  return { model: readModel(value['model']), read: () => readRequest(body, scan, value) };
}

function readRequest(body: Buffer, scan: JsonScan, value: JsonRecord): VideoRequest {
  const audioUrl = readInput(value['input']);
  const parameters = isAbsent(value['parameters'])
    ? {}
    : requireRecord(value['parameters'], 'parameters');
  requireOneVideo(value, '');
  requireOneVideo(value['input'], 'input.');
  requireOneVideo(parameters, 'parameters.');
  const { duration, size } = parameters;
  const seconds = isAbsent(duration)
    ? usualSeconds
    : requireInteger(duration, 'parameters.duration', 3, 15);
  const resolution = readResolution(parameters);
  if (!isAbsent(parameters['prompt_extend']) && typeof parameters['prompt_extend'] !== 'boolean') {
    refuseValue('parameters.prompt_extend', 'must be a boolean');
  }
  const priced = { duration: seconds, ...(isAbsent(size) && { resolution }) };
  return {
    demand: { resolution, seconds, withVideo: false },
    requestMembers: {},
    audioUrl,
    body: aroundModel(body, scan, editsFor(scan, parameters, priced)),
  };
}

/** What is not in the request as it is priced is written into it. */
function editsFor(scan: JsonScan, parameters: JsonRecord, priced: JsonRecord): Edit[] {
  const object = scan.objects.get('parameters');
  if (object === undefined) {
    const range = scan.members.get('parameters');
    if (range !== undefined) return [replaceValue(range, priced)];
    return [insertMember(scan.objects.get('')!, 'parameters', priced)];
  }
  const edits: Edit[] = [];
  const missing: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(priced)) {
    const range: MemberRange | undefined = scan.members.get(`parameters.${name}`);
    if (range === undefined) missing[name] = value;
    else if (parameters[name] !== value) edits.push(replaceValue(range, value));
  }
  return [...insertMembers(object, missing), ...edits];
}

/** Returns the address of the sound; null if there is none. */
function readInput(value: unknown): string | null {
  const input = requireRecord(value, 'input');
  if (Object.keys(input).length === 0) refuseValue('input', 'must not be empty');
  const { prompt, img_url: image, audio_url: audio } = input;
  if (!isAbsent(prompt)) requireString(prompt, 'input.prompt');
  if (!isAbsent(image)) checkImage(requireString(image, 'input.img_url'));
  if (isAbsent(audio)) return null;
  const url = requireString(audio, 'input.audio_url');
  return isPublicUrl(url)
    ? url
    : refuseValue('input.audio_url', 'must be a public http or https address');
}

function checkImage(text: string): void {
  if (!/^data:/i.test(text)) {
    if (isPublicUrl(text)) return;
    refuseValue('input.img_url', 'must be a public http or https address, or a data: URL');
  }
  const file = readDataUrl(text);
  if (file?.type.startsWith('image/') !== true || !isImage(firstBytes(file.data, 12))) {
    refuseValue('input.img_url', 'must be a JPEG, PNG, BMP or WebP picture in Base64');
  }
}

/** Whether a file is a JPEG, PNG, BMP or WebP. Its bytes decide: clients label every image as the one they know. */
function isImage(bytes: Buffer): boolean {
  const start = bytes.toString('latin1');
  return (
    start.startsWith('\xff\xd8\xff') ||
    start.startsWith('\x89PNG\r\n\x1a\n') ||
    start.startsWith('BM') ||
    (start.startsWith('RIFF') && start.slice(8, 12) === 'WEBP')
  );
}

/** By the largest number of pixels, ascending. */
const tiers: readonly (readonly [pixels: number, name: VideoResolution])[] = [
  [420_000, '480P'],
  [1_000_000, '720P'],
  [2_100_000, '1080P'],
];

/** The resolution that is charged: the larger one if a size is named beside it. */
function readResolution({ resolution, size }: JsonRecord): VideoResolution {
  const namedTier = isAbsent(resolution) ? null : tierNamed(resolution);
  const sized = isAbsent(size) ? null : tierOfSize(size);
  if (namedTier === null) return sized ?? '720P';
  return sized === null || rank(namedTier) > rank(sized) ? namedTier : sized;
}

const rank = (name: VideoResolution): number => tiers.findIndex(([, other]) => other === name);

function tierNamed(value: unknown): VideoResolution {
  const name = typeof value === 'string' ? value.toUpperCase() : '';
  const tier = tiers.find(([, other]) => other === name);
  return tier?.[1] ?? refuseValue('parameters.resolution', 'must be 480P, 720P or 1080P');
}

/** A size without a price cannot be charged. */
function tierOfSize(value: unknown): VideoResolution {
  const sides = typeof value === 'string' ? /^(\d{1,5})[*x](\d{1,5})$/i.exec(value.trim()) : null;
  const pixels = sides === null ? 0 : Number(sides[1]) * Number(sides[2]);
  const tier = pixels === 0 ? undefined : tiers.find(([most]) => pixels <= most);
  return (
    tier?.[1] ?? refuseValue('parameters.size', 'must be <width>*<height>, at most 2.1 megapixels')
  );
}
