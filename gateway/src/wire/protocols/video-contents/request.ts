import {
  type Edit,
  elementsAt,
  type JsonScan,
  type KeyedRange,
  membersAt,
  parseObject,
  type ParseRoom,
  refuseRepeatedMembers,
  removeMembers,
  replaceKey,
  replaceValue,
  watchList,
} from '#json/index.ts';
import { GatewayError } from '#errors/index.ts';
import { readModel, refuseValue } from '../shared/text/request-values.ts';
import { isAbsent, type JsonRecord } from '../shared/values.ts';
import { aroundModel, insertMembers, requireOneVideo } from '../shared/video/video-values.ts';
import type { OpenVideo, VideoRequest } from '../shared/video/video.ts';
import { readContent, readPrompt, type Content, type Element } from './content.ts';
import { readParameters, type Parameters } from './parameters.ts';

const watched = watchList([
  'model',
  'content',
  'prompt',
  'images',
  'resolution',
  'ratio',
  'duration',
  'frames',
  'seed',
  'tools',
  'callback_url',
  'execution_expires_after',
]);

/** Members of elements: two of the same name could be read in two ways. */
const ofElements = ['type', 'text', 'url', 'image_url', 'video_url', 'audio_url', 'role'];

/** Seconds: after this time the upstream gives up, as the gateway does. */
const expiresAfter = 86_400;

/**
 * Reads a request up to its model.
 * @throws GatewayError `invalid_body`, `too_complex`, `duplicate_key`, `model_required`, and what `room` throws
 */
export function openRequest(body: Buffer, room?: ParseRoom): OpenVideo {
  const { scan, value } = parseObject(body, watched, room);
  return { model: readModel(value['model']), read: () => readRequest(body, scan, value) };
}

function readRequest(body: Buffer, scan: JsonScan, value: JsonRecord): VideoRequest {
  if (!isAbsent(value['tools'])) refuseValue('tools', 'are not supported');
  requireOneVideo(value, '');
  refuseRepeatedMembers(body, ofElements);
  const content = readEither(value);
  const parameters = readParameters(value, content.shorthands);
  const { resolution, seconds, ratio, seed } = parameters;
  const { withVideo } = content;
  return {
    demand: { resolution, seconds, withVideo },
    requestMembers: { ...(ratio !== null && { ratio }), ...(seed !== null && { seed }) },
    audioUrl: null,
    body: aroundModel(body, scan, editsFor(body, scan, value, content, parameters)),
  };
}

/** @throws GatewayError `missing_parameter` without either, `invalid_value` with both */
function readEither({ content, prompt, images }: JsonRecord): Content {
  if (isAbsent(content)) {
    if (isAbsent(prompt)) {
      throw new GatewayError('missing_parameter', {
        values: { param: 'content' },
        param: 'content',
      });
    }
    return readPrompt(prompt, images);
  }
  if (!isAbsent(prompt)) refuseValue('prompt', 'cannot be used together with content');
  if (!isAbsent(images)) refuseValue('images', 'can only be used together with prompt');
  return readContent(content);
}

/** What the upstream must not see, or sees as it is priced. */
function editsFor(
  body: Buffer,
  scan: JsonScan,
  value: JsonRecord,
  content: Content,
  { resolution, seconds, ratio, seed }: Parameters,
): Edit[] {
  const root = scan.objects.get('')!;
  const members = membersAt(body, root.start - 1);
  const sentMembers: JsonRecord = {
    resolution: resolution.toLowerCase(),
    duration: seconds,
    ...(ratio !== null && { ratio }),
    ...(seed !== null && { seed }),
    ...(isAbsent(value['execution_expires_after']) && { execution_expires_after: expiresAfter }),
  };
  const isGone = ({ key }: KeyedRange): boolean => {
    const isHidden = key === 'frames' || key === 'callback_url' || key === 'images';
    if (isHidden) return true;
    return isAbsent(value[key]) && (key === 'content' || key === 'prompt' || key === 'tools');
  };
  const missing = Object.entries(sentMembers).filter(([name]) => !scan.members.has(name));
  const edits = [
    ...insertMembers(root, Object.fromEntries(missing)),
    ...removeMembers(body, members, isGone),
  ];
  for (const [name, wantedValue] of Object.entries(sentMembers)) {
    const range = scan.members.get(name);
    if (range !== undefined && value[name] !== wantedValue)
      edits.push(replaceValue(range, wantedValue));
  }
  return [...edits, ...contentEdits(body, scan, value, content)];
}

function contentEdits(
  body: Buffer,
  scan: JsonScan,
  value: JsonRecord,
  { elements }: Content,
): Edit[] {
  if (isAbsent(value['content'])) {
    const range = scan.members.get('prompt')!;
    return [replaceKey(body, range, 'content'), replaceValue(range, elements.flatMap(rewritten))];
  }
  const range = scan.members.get('content')!;
  // Only texts with shorthands change; where one goes, the commas between the others are written anew.
  if (elements.some(({ rest }) => rest === '')) {
    return [{ start: range.valueStart, end: range.valueEnd, bytes: joined(body, range, elements) }];
  }
  const places = elementsAt(body, range.valueStart);
  return elements.flatMap(({ rest }, at) => {
    if (rest === null) return [];
    const text = membersAt(body, places[at]!.start).find(({ key }) => key === 'text')!;
    return [replaceValue(text, rest)];
  });
}

/** The list without the elements of which nothing is left. Those that stay keep their bytes. */
function joined(
  body: Buffer,
  range: { readonly valueStart: number },
  elements: readonly Element[],
) {
  const places = elementsAt(body, range.valueStart);
  const keptElements = elements.flatMap((element, at) => {
    const { rest } = element;
    const { start, end } = places[at]!;
    if (rest === null) return [body.subarray(start, end)];
    return rewritten(element).map((value) => Buffer.from(JSON.stringify(value)));
  });
  const pieces = keptElements.flatMap((piece, at) =>
    at === 0 ? [piece] : [Buffer.from(','), piece],
  );
  return Buffer.concat([Buffer.from('['), ...pieces, Buffer.from(']')]);
}

/** Nothing for a text of which nothing is left. */
function rewritten({ value, rest }: Element): JsonRecord[] {
  if (rest === '') return [];
  return [rest === null ? value : { ...value, text: rest }];
}
