import {
  type BodyPool,
  errorOf,
  isPlainError,
  type JobRequest,
  type PatchedBody,
  type RequestFacts,
  type RunningJob,
  termsOf,
} from '#body-work/index.ts';
import type { ConversionTarget, ConvertedBody, FoundMedia, StateMaker } from '#conversion/index.ts';
import type { Outline } from '#estimation/index.ts';
import { ownerOf } from '#identity/index.ts';
import type { NamedItem, PatchTarget, WireRequest } from '#protocols/index.ts';
import { isReadInThread, runOnBody } from '../attempts/in-thread.ts';
import type { TextInput, TextParts } from './input.ts';

/** From this size on, converting a request takes longer than handing it to a thread. */
export const convertedInThread = 256 * 1024;

/**
 * Null for a body that is handled in this thread.
 * @param isRead false: it has been read here already
 */
export function largeBodyOf(
  parts: Pick<TextParts, 'bodies' | 'ticker'>,
  input: TextInput,
  isRead = isReadInThread(input.body),
): LargeBody | null {
  const { body } = input;
  return isRead || body.length >= convertedInThread ? new LargeBody(parts, input, isRead) : null;
}

/** Puts the body back into the prepared request when the work has ended, successfully or not. */
export async function givingBack<Value>(
  prepared: { request: WireRequest },
  input: TextInput,
  work: Promise<Value>,
): Promise<Value> {
  try {
    return await work;
  } finally {
    prepared.request = { ...prepared.request, body: input.body };
  }
}

/**
 * What threads do with the body of one exchange. The body is handed over to them, so nothing else may use it meanwhile.
 */
export class LargeBody {
  /** The body is also read in a thread, not only converted. */
  readonly isRead: boolean;
  readonly #bodies: BodyPool;
  readonly #ticker: TextParts['ticker'];
  readonly #input: TextInput;
  /** An upstream may still be reading these very bytes. */
  #isLent: boolean;

  constructor(
    { bodies, ticker }: Pick<TextParts, 'bodies' | 'ticker'>,
    input: TextInput,
    isRead: boolean,
    isLent = false,
  ) {
    this.#bodies = bodies;
    this.#ticker = ticker;
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
    const of = this.#job();
    const { model, facts } = await this.#run(
      this.#bodies.run(caller.keyId, { kind: 'read', ...of, source }),
    );
    return {
      model,
      read: () => {
        if (isPlainError(facts)) throw errorOf(facts);
        return { facts, request: unparsed(facts, model, of.path, this.#input.body) };
      },
    };
  }

  /**
   * Like `Protocol.patchRequest`, after removing the reasoning that other upstreams made.
   * @param maker the upstream requires its reasoning of earlier turns; null: none is recalled
   * @throws GatewayError
   */
  async patch(target: PatchTarget, maker: StateMaker | null = null): Promise<PatchedBody> {
    const owner = ownerOf(this.#input.caller);
    const job = { kind: 'patch', ...this.#job(), target, owner, maker } as const;
    const patched = await this.#run(this.#bodies.run(this.#input.caller.keyId, job));
    this.#isLent = patched.body.buffer === this.#input.body.buffer;
    return patched;
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
    const converted = { id, arrivedAt, protocol, keyId, owner: ownerOf(caller), strict };
    const found = [...media.found];
    const job = { kind: 'convert', ...this.#job(), converted, target, media: found } as const;
    const running = this.#bodies.run(keyId, job);
    const result = running.result.then((returned) => {
      media.found = returned.media;
      return returned;
    });
    const { terms, ...rest } = await this.#run({ ...running, result });
    return { ...rest, terms: termsOf(terms) };
  }

  /**
   * The items of earlier responses that the body names.
   * @throws GatewayError
   */
  async itemNames(): Promise<readonly NamedItem[]> {
    const job = { kind: 'item-names', ...this.#job() } as const;
    return (await this.#run(this.#bodies.run(this.#input.caller.keyId, job))).names;
  }

  /**
   * Puts the texts of items in the place of their names. The result becomes the request's body.
   * @throws GatewayError
   */
  async putItems(texts: ReadonlyMap<number, string>): Promise<void> {
    const job = { kind: 'item-texts', ...this.#job(), texts: [...texts] } as const;
    const { body } = await this.#run(this.#bodies.run(this.#input.caller.keyId, job));
    this.#input.body = body;
  }

  /**
   * The outline of the body, for an estimate of its tokens.
   * @throws GatewayError for a body that cannot be decoded.
   */
  outline(): Promise<Outline> {
    const job = { kind: 'outline', ...this.#job() } as const;
    return this.#run(this.#bodies.run(this.#input.caller.keyId, job));
  }

  #job(): JobRequest {
    const { id, protocol, operation, pathModel, pathStream, body } = this.#input;
    return {
      exchange: id,
      protocol,
      path: { operation, model: pathModel, stream: pathStream },
      body: this.#isLent ? new Uint8Array(body) : body,
    };
  }

  async #run<Value>(running: RunningJob<Value>): Promise<Value> {
    const input = this.#input;
    const handed = input.body;
    try {
      return await runOnBody(this.#ticker, input, running);
    } finally {
      // It is back.
      if (input.body !== handed) this.#isLent = false;
    }
  }
}

/**
 * A body of any size, to be converted in a thread because of what is put into it. An earlier channel may still be reading
 * its bytes, so a copy is handed over.
 */
export function enlargedBody(
  parts: Pick<TextParts, 'bodies' | 'ticker'>,
  input: TextInput,
): LargeBody {
  return new LargeBody(parts, input, false, true);
}

const noScan: WireRequest['scan'] = Object.freeze({
  members: new Map(),
  objects: new Map(),
  memberCount: 0,
  valueCount: 0,
});

/** The request with only the names of its members: the values exist only in threads. */
function unparsed(
  { checked, members }: RequestFacts,
  model: string,
  path: JobRequest['path'],
  body: Buffer,
): WireRequest {
  const json: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const name of members) json[name] = undefined;
  return { ...checked, path, body, scan: noScan, json, model };
}
