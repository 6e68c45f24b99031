import { MalformedJson, PieceScan, type FoundValue, type Range } from '#json/index.ts';
import { echoedName } from '../echo.ts';
import { type ModelEcho, UnreadableResponse } from '../protocol.ts';
import type { JsonRecord } from '../values.ts';
import { interpretResponse, longestRead } from './response.ts';
import type { ImageResponse } from './types.ts';

/** A response whose bytes are somewhere else. */
export interface ScannedImages extends Omit<ImageResponse, 'body'> {
  /** What the client is to see in place of some of the bytes; null: they are sent as they are. */
  readonly edit: { readonly range: Range; readonly bytes: Buffer } | null;
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
];

/** Reads a complete response piece by piece, as it arrives. Pictures are not kept. */
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
    const found = this.#end();
    if (found === null) throw new UnreadableResponse('the response is not JSON');
    const response = compose(found);
    const name = echoedName({ clientModel, upstreamModel });
    const model = found.findLast(({ watched: { path } }) => path[0] === 'model');
    const isNamed = name !== null && model !== undefined && typeof response['model'] === 'string';
    return {
      ...interpretResponse(response),
      edit: isNamed ? { range: { start: model.start, end: model.end }, bytes: name } : null,
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

/** The part of the response that was watched, as an object. The last of several members of one name counts. */
function compose(found: readonly FoundValue[]): JsonRecord {
  const response: Record<string, unknown> = {};
  let entries: unknown[] = [];
  /** Members of the entry that is not over yet. */
  let members: Record<string, unknown> = {};
  for (const value of found) {
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
