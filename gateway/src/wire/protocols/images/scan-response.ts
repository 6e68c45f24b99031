import { type Edit, type FoundValue, MalformedJson, membersAt, PieceScan } from '#json/index.ts';
import { echoedName } from '../shared/text/echo.ts';
import { type ModelEcho, UnreadableResponse } from '../protocol.ts';
import { isRecord, type JsonRecord } from '../shared/values.ts';
import { interpretResponse, longestRead } from './response.ts';
import type { ImagesResponse } from './types.ts';

/** A response whose bytes are somewhere else. */
export interface ScannedImages extends Omit<ImagesResponse, 'body'> {
  /** What the client is to see in place of some of the bytes. */
  readonly edits: readonly Edit[];
  /**
   * What the upstream has left out although it is charged: the size of an image if it stands once for all of them, and
   * the number of references beside that of images.
   * @param references the number of references that are charged
   */
  fills(references: number): readonly Edit[];
}

/** Bytes of values that are kept whole or not at all. */
const wholeValue = 64 * 1024;
const shortValue = 1_024;

const watched = [
  ...['model', 'size', 'service_tier'].map((name) => ({ path: [name], keep: shortValue })),
  ...['usage', 'error'].map((name) => ({ path: [name], keep: wholeValue })),
  { path: ['data'], keep: 1 },
  { path: ['data', '*'], keep: 1 },
  ...['size', 'z_index', 'error'].map((name) => ({ path: ['data', '*', name], keep: shortValue })),
  { path: ['data', '*', 'b64_json'], keep: longestRead },
  { path: ['data', '*', 'url'], keep: 1 },
];

/** Reads a complete response piece by piece, as it arrives. Images are not kept. */
export class ImageResponseScan {
  readonly #scan = new PieceScan(watched);
  /** The response is not JSON. */
  #isBroken = false;

  add(piece: Buffer): void {
    if (this.#isBroken) return;
    try {
      this.#scan.add(piece);
    } catch (error) {
      if (!(error instanceof MalformedJson)) throw error;
      this.#isBroken = true;
    }
  }

  /**
   * The same as `readResponse`, of all pieces.
   * @throws UnreadableResponse
   */
  end({ clientModel, upstreamModel }: ModelEcho): ScannedImages {
    const foundValues = this.#end();
    if (foundValues === null) throw new UnreadableResponse('the response is not JSON');
    const response = compose(foundValues);
    const name = echoedName({ clientModel, upstreamModel });
    const model = foundValues.findLast(({ watched: { path } }) => path[0] === 'model');
    const isNamed = name !== null && model !== undefined && typeof response['model'] === 'string';
    return {
      ...interpretResponse(response),
      edits: isNamed ? [{ start: model.start, end: model.end, bytes: name }] : [],
      fills: (references) => [
        ...sizeFills(foundValues, response),
        ...countFills(foundValues, references),
      ],
    };
  }

  #end(): readonly FoundValue[] | null {
    if (this.#isBroken) return null;
    try {
      return this.#scan.end();
    } catch (error) {
      if (!(error instanceof MalformedJson)) throw error;
      return null;
    }
  }
}

const pixels = /^\d+x\d+$/;

/** The size of the whole response, for each image that has none of its own. */
function sizeFills(foundValues: readonly FoundValue[], { size }: JsonRecord): Edit[] {
  if (typeof size !== 'string' || !pixels.test(size)) return [];
  const fills: Edit[] = [];
  /** Members of the entry that is not over yet. */
  let members = new Map<string, FoundValue>();
  for (const value of foundValues) {
    const { path } = value.watched;
    if (path[0] === 'data' && path.length === 3) members.set(path[2]!, value);
    if (path[0] !== 'data' || path.length !== 2) continue;
    const isImage = members.has('b64_json') || members.has('url');
    const own = members.get('size');
    if (isImage && isNothing(own) && isNothing(members.get('error'))) {
      fills.push(
        own === undefined
          ? insertAt(value.start, 'size', size)
          : { start: own.start, end: own.end, bytes: Buffer.from(JSON.stringify(size)) },
      );
    }
    members = new Map();
  }
  return fills;
}

const isNothing = (value: FoundValue | undefined): boolean =>
  value === undefined || value.text.toString() === 'null';

/** Ark reports both numbers, and compatible servers only that of the images. */
function countFills(foundValues: readonly FoundValue[], references: number): Edit[] {
  const usage = foundValues.findLast(({ watched: { path } }) => path[0] === 'usage');
  if (usage === undefined || usage.text.length < usage.end - usage.start) return [];
  const counts = parsed(usage.text.toString());
  if (!isRecord(counts) || typeof counts['generated_images'] !== 'number') return [];
  const inputImages = membersAt(usage.text, 0).findLast(({ key }) => key === 'input_images');
  if (inputImages === undefined) return [insertAt(usage.start, 'input_images', references)];
  if (counts['input_images'] !== null) return [];
  const { valueStart, valueEnd } = inputImages;
  const bytes = Buffer.from(String(references));
  return [{ start: usage.start + valueStart, end: usage.start + valueEnd, bytes }];
}

/** Inserts a member before the others of the object that begins at `start`. */
function insertAt(start: number, name: string, value: string | number): Edit {
  const bytes = Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(value)},`);
  return { start: start + 1, end: start + 1, bytes };
}

/** The part of the response that was watched, as an object. The last of several members of one name counts. */
function compose(foundValues: readonly FoundValue[]): JsonRecord {
  const response: Record<string, unknown> = {};
  let entries: unknown[] = [];
  /** Members of the entry that is not over yet. */
  let members: Record<string, unknown> = {};
  for (const value of foundValues) {
    const [name = '', , member] = value.watched.path;
    if (member !== undefined) {
      members[member] = valueOf(value);
    } else if (value.watched.path.length === 2) {
      entries.push(value.text[0] === openBrace ? members : null);
      members = {};
    } else if (name === 'data') {
      response[name] = value.text[0] === openBracket ? entries : null;
      entries = [];
    } else response[name] = valueOf(value);
  }
  return response;
}

const openBrace = 0x7b;
const openBracket = 0x5b;
const quote = 0x22;
const backslash = 0x5c;

/** A text may be cut. Of another value that is too long, only its presence is known. */
function valueOf({ text, start, end }: FoundValue): unknown {
  const isCut = text.length < end - start;
  if (!isCut) return parsed(text.toString());
  if (text[0] !== quote) return {};
  // An escape in the middle of which the text ends is left out.
  const escape = text.lastIndexOf(backslash);
  const whole = escape > text.length - 6 ? text.subarray(0, escape) : text;
  return parsed(`${whole.toString()}"`);
}

/** Null for control characters in a text: the scan lets them pass. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
