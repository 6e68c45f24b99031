import { ownerOf } from '#identity/index.ts';
import {
  isReadInThread,
  valueOf,
  type PatchedBody,
  type Patching,
  type RequestFacts,
  type RunningCall,
  type ThreadRequest,
} from '#body-work/index.ts';
import type { ConversionTarget, ConvertedBody, FoundMedia } from '#conversion/index.ts';
import type { Outline } from '#estimation/index.ts';
import type { NamedItem, WireRequest } from '#protocols/index.ts';
import { waitWithClient, type ThreadParts } from '../attempts/in-thread.ts';
import type { TextInput } from './input.ts';

/**
 * Null for a body that is handled in this thread.
 * @param isRead false: it has been read here already
 */
export function largeBodyOf(
  parts: ThreadParts,
  input: TextInput,
  isRead = isReadInThread(input.body, parts.bodies.weights),
): LargeBody | null {
  const isLarge = isRead || input.body.length >= parts.bodies.weights.conversion;
  return isLarge ? new LargeBody(parts, input, isRead) : null;
}

/** Puts the body back into the prepared request when the work has ended, successfully or not. */
export async function givingBack<Value>(
  preparedText: { request: WireRequest },
  input: TextInput,
  work: Promise<Value>,
): Promise<Value> {
  try {
    return await work;
  } finally {
    preparedText.request = { ...preparedText.request, body: input.body };
  }
}

/**
 * What threads do with the body of one exchange. The body is handed over to them, so nothing else may use it until they
 * return it.
 */
export class LargeBody {
  /** The body is also read in a thread, not only converted. */
  readonly isRead: boolean;
  readonly #parts: ThreadParts;
  readonly #input: TextInput;
  /** An upstream may still be reading these very bytes. */
  #isLent: boolean;

  constructor(parts: ThreadParts, input: TextInput, isRead: boolean, isLent = false) {
    this.#parts = parts;
    this.#input = input;
    this.isRead = isRead;
    this.#isLent = isLent;
  }

  /**
   * Like `Protocol.openRequest`, whose `read` is like `readRequest`: two steps, so that the model can be checked
   * between them.
   * @throws GatewayError
   */
  async open(): Promise<{
    model: string;
    read: () => { request: WireRequest; facts: RequestFacts };
  }> {
    const { headers, caller } = this.#input;
    const source = { keyId: caller.keyId, headers };
    const { bodies } = this.#parts;
    const args = { ...this.#request(), source };
    const { model, facts } = await this.#wait(args, bodies.run(caller.keyId, 'openText', args));
    const read = () => {
      const requestFacts = valueOf(facts);
      return {
        facts: requestFacts,
        request: unparsedRequest(requestFacts, model, args.path, this.#input.body),
      };
    };
    return { model, read };
  }

  /** See `patchText`. @throws GatewayError */
  async patch(patching: Patching): Promise<PatchedBody> {
    const args = { ...this.#request(), ...patching };
    const owner = patching.recalled?.owner ?? null;
    const { bodies } = this.#parts;
    const running = bodies.run(this.#input.caller.keyId, 'patchText', args, owner);
    const result = await this.#wait(args, running);
    this.#isLent = result.patchedRequest.body.buffer === this.#input.body.buffer;
    return result;
  }

  /**
   * Like `Conversion.convert`.
   * @param media is handed over too, and put back
   * @throws GatewayError, MediaWanted
   */
  async convert(target: ConversionTarget, media: { found: FoundMedia }): Promise<ConvertedBody> {
    const { id, arrivedAt, protocol, caller } = this.#input;
    const { keyId } = caller;
    const strict = caller.conversion === 'strict';
    const owner = ownerOf(caller);
    const convertedExchange = { id, arrivedAt, protocol, keyId, owner, strict };
    const args = { ...this.#request(), converted: convertedExchange, target, media: media.found };
    try {
      return await this.#wait(args, this.#parts.bodies.run(keyId, 'convertText', args, owner));
    } finally {
      media.found = args.media;
    }
  }

  /** The items of earlier responses that the body names. @throws GatewayError */
  itemNames(): Promise<readonly NamedItem[]> {
    const args = this.#request();
    const { bodies } = this.#parts;
    return this.#wait(args, bodies.run(this.#input.caller.keyId, 'itemNames', args));
  }

  /**
   * Puts the texts of items in the place of their names. The result becomes the request's body.
   * @throws GatewayError
   */
  async putItems(texts: ReadonlyMap<number, string>): Promise<void> {
    const args = { ...this.#request(), texts };
    const running = this.#parts.bodies.run(this.#input.caller.keyId, 'withItems', args);
    this.#input.body = await this.#wait(args, running);
  }

  /** For an estimate of its tokens. @throws GatewayError for a body that cannot be decoded */
  outline(): Promise<Outline> {
    const args = this.#request();
    const { bodies } = this.#parts;
    return this.#wait(args, bodies.run(this.#input.caller.keyId, 'outlineText', args));
  }

  #request(): ThreadRequest & { body: Buffer } {
    const { id, protocol, operation, pathModel, pathStream, body } = this.#input;
    return {
      exchange: id,
      protocol,
      path: { operation, model: pathModel, stream: pathStream },
      body: this.#isLent ? Buffer.from(body) : body,
    };
  }

  async #wait<Value>(args: { readonly body: Buffer }, running: RunningCall<Value>): Promise<Value> {
    const { body } = this.#input;
    try {
      return await waitWithClient(this.#parts.ticker, this.#input, args, running);
    } finally {
      // It is back.
      if (this.#input.body !== body) this.#isLent = false;
    }
  }
}

/**
 * A body of any size, to be converted in a thread because of what is put into it. An earlier channel may still be
 * reading its bytes, so a copy is handed over.
 */
export function enlargedBody(parts: ThreadParts, input: TextInput): LargeBody {
  return new LargeBody(parts, input, false, true);
}

const noScan: WireRequest['scan'] = Object.freeze({
  members: new Map(),
  objects: new Map(),
  memberCount: 0,
  valueCount: 0,
});

/** The request with only the names of its members: the values exist only in threads. */
function unparsedRequest(
  { checked, members }: RequestFacts,
  model: string,
  path: ThreadRequest['path'],
  body: Buffer,
): WireRequest {
  return { ...checked, path, body, scan: noScan, json: members, model };
}
