import { isPublicUrl } from '../shared/images/public-address.ts';
import { isAbsent, isRecord, type JsonRecord } from '../shared/values.ts';
import { readDataUrl } from '../shared/video/video-values.ts';
import { readShorthands, type Shorthand } from './shorthands.ts';
import { refuseValue, requireRecord, requireString } from '../shared/text/request-values.ts';

/** What the elements of a request say. */
export interface Content {
  readonly elements: readonly Element[];
  readonly shorthands: readonly Shorthand[];
  readonly withVideo: boolean;
}

/** `rest`: the text without its shorthands; null for an element that is sent as it is. */
export interface Element {
  readonly value: JsonRecord;
  readonly rest: string | null;
}

/** The kinds of media, by the type of their elements. */
const media: ReadonlyMap<unknown, string> = new Map([
  ['image_url', 'image/'],
  ['video_url', 'video/'],
  ['audio_url', 'audio/'],
]);

/** @throws GatewayError `invalid_value`, `missing_parameter` */
export function readContent(value: unknown): Content {
  if (!Array.isArray(value) || value.length === 0) {
    refuseValue('content', 'must be a list with at least one element');
  }
  return readElements(value.map((element, at) => ({ element, param: `content[${at}]` })));
}

/** `prompt` and `images` stand for elements. */
export function readPrompt(prompt: unknown, images: unknown): Content {
  const text = {
    element: { type: 'text', text: requireString(prompt, 'prompt') },
    param: 'prompt',
  };
  if (isAbsent(images)) return readElements([text]);
  if (!Array.isArray(images)) refuseValue('images', 'must be a list of addresses');
  const imageElements = images.map((url: unknown, at) => {
    const param = `images[${at}]`;
    return { element: { type: 'image_url', image_url: { url: requireString(url, param) } }, param };
  });
  return readElements([text, ...imageElements]);
}

interface Given {
  readonly element: unknown;
  readonly param: string;
}

function readElements(givenElements: readonly Given[]): Content {
  const shorthands: Shorthand[] = [];
  let withVideo = false;
  const elements = givenElements.map(({ element, param }): Element => {
    const value = requireRecord(element, param);
    const { type } = value;
    requireOnePayload(value, param);
    if (type === 'text') {
      const text = requireString(value['text'], `${param}.text`);
      if (text === '') refuseValue(`${param}.text`, 'must not be empty');
      const read = readShorthands(text, `${param}.text`);
      shorthands.push(...read.shorthands);
      return { value, rest: read.shorthands.length === 0 ? null : read.text };
    }
    const kind = media.get(type);
    if (kind === undefined) {
      refuseValue(`${param}.type`, 'must be text, image_url, video_url or audio_url');
    }
    checkMedia(value[type as string], kind, `${param}.${type as string}`);
    if (type === 'video_url') withVideo = true;
    return { value, rest: null };
  });
  if (elements.every(({ rest }) => rest === '')) {
    refuseValue('content', 'must have more than shorthands');
  }
  return { elements, shorthands, withVideo };
}

/** What an element is charged as, and what it is for the upstream, must be the same. */
function requireOnePayload(value: JsonRecord, param: string): void {
  for (const name of ['text', ...media.keys()] as string[]) {
    if (name !== value['type'] && !isAbsent(value[name])) {
      refuseValue(`${param}.${name}`, 'does not belong to an element of this type');
    }
  }
}

function checkMedia(value: unknown, kind: string, param: string): void {
  const url = requireString(isRecord(value) ? value['url'] : undefined, `${param}.url`);
  if (/^data:/i.test(url)) {
    if (readDataUrl(url)?.type.startsWith(kind) === true) return;
    refuseValue(`${param}.url`, `must be ${kind}… in Base64`);
  }
  if (!isPublicUrl(url)) {
    refuseValue(`${param}.url`, 'must be a public http or https address, or a data: URL');
  }
}
