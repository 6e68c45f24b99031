import {
  type GenerationEvent,
  type ReportedUsage,
  saysNothing,
  type GenerationResponse,
} from '#canonical/index.ts';
import type { GatewayError } from '#errors/index.ts';
import { holdsMoreThan } from '#json/index.ts';
import {
  verdict,
  type StreamDecoder,
  type StreamEncoder,
  type StreamEvent,
  type StreamTap,
  UnreadableResponse,
  isRecord,
  parsePassingOn,
  type ModelEcho,
  type Protocol,
  type StreamContext,
  type WireResponse,
} from '#protocols/index.ts';
import type { ResponsePasses } from './response-context.ts';
import { ResponseEvents } from './response-events.ts';
import { passResponse } from './response-blocks.ts';

/** In the shape of every protocol's error body, so that the provider classifies an empty response as a failure. */
const emptyResponse = failureOf('empty response');
const tooComplex = failureOf('an event that is too complex');
const tooLong = failureOf('a stream that is too long');

/** Members, values and brackets of one event that are parsed: 60 ms if each has a different name. */
const mostInEvent = 131_072;
/** Canonical events per upstream event. A call makes three, and this many calls take 50 ms. */
const mostSaid = 8_192;
/**
 * Bytes of text, reasoning and arguments for a client that receives them all again at the end: several times what any
 * model can produce.
 */
const mostOutput = 4 * 1024 * 1024;

/**
 * Follows an upstream's stream like its own protocol's tap, and returns the client's frames instead of its events. The
 * upstream's tap decides whether the stream failed or is complete, and what it used.
 */
class ConvertedTap implements StreamTap {
  replacement: Buffer | null = null;
  failure: unknown = null;
  readonly #source: StreamTap;
  readonly #decoder: StreamDecoder;
  readonly #mostOutput: number;
  readonly #leanEvent: ((data: Buffer) => Buffer) | undefined;
  readonly #encoder: StreamEncoder;
  readonly #events: ResponseEvents;
  readonly #take = (event: GenerationEvent): void => {
    const isReason = event.type === 'finish' && event.finish.reason !== 'other';
    if (isReason || holdsContent(event)) this.#hasContent = true;
    this.#events.push(event);
  };
  readonly #takeOfEvent = (event: GenerationEvent): void => {
    this.#eventCount += 1;
    if (this.#eventCount > mostSaid) throw new SaysTooMuch();
    this.#take(event);
  };
  readonly #encode = (event: GenerationEvent): void => {
    const frames = this.#encoder.push(event);
    if (frames === '') return;
    this.#frames += frames;
    // Some clients receive a call only when it is complete.
    if (event.type === 'call-end' || holdsContent(event)) this.#shows = true;
  };
  #frames = '';
  /** Canonical events from the current upstream event. */
  #eventCount = 0;
  /** Whether the current event produced visible output for the client. */
  #shows = false;
  /** Whether the response has content, or gives a reason for having none. */
  #hasContent = false;
  /** Frames that the decoder held back until the end. */
  #last = '';
  #decoderEnded = false;
  #encoderEnded = false;

  constructor(source: StreamTap, passes: ResponsePasses) {
    this.#source = source;
    this.#decoder = passes.upstream.createStreamDecoder();
    this.#mostOutput = passes.client.repeatsResponses === true ? mostOutput : Infinity;
    this.#leanEvent = passes.upstream.leanEvent;
    this.#encoder = passes.client.createStreamEncoder(passes.context);
    this.#events = new ResponseEvents(passes, this.#encode);
  }

  get usage(): ReportedUsage | null {
    return this.#source.usage;
  }

  get webSearches(): number {
    return this.#source.webSearches;
  }

  get unknownEnding(): string | null {
    return this.#source.unknownEnding ?? null;
  }

  get outputBytes(): number {
    return this.#source.outputBytes;
  }

  /** A response that ends without content or a reason counts as unfinished, even if its upstream disagrees. */
  get finished(): boolean {
    if (!this.#source.finished) return false;
    // Some decoders report only at the end why there is no content.
    if (!this.#hasContent) this.#endDecoder();
    return this.#hasContent;
  }

  get closed(): boolean {
    return this.#source.closed && this.#hasContent;
  }

  get awaitsUsage(): boolean {
    return this.#source.awaitsUsage;
  }

  inspect(event: StreamEvent): number {
    const flags = this.#source.inspect(event);
    if ((flags & verdict.failed) !== 0) {
      this.failure = this.#source.failure;
      return verdict.failed;
    }
    this.#frames = '';
    this.#shows = false;
    if (event.data !== null && !this.#decoderEnded && !this.#decode(event, event.data)) {
      return this.#fail(tooComplex);
    }
    if (this.#source.outputBytes > this.#mostOutput) return this.#fail(tooLong);
    if (this.#source.closed && !this.finished) return this.#fail(emptyResponse);
    let result: number = flags & verdict.terminal;
    if (this.#shows) result |= verdict.content;
    if (this.#frames === '') return result | verdict.drop;
    this.replacement = bytesOf(this.#frames);
    return result | verdict.replace;
  }

  #fail(failure: unknown): number {
    this.failure = failure;
    return verdict.failed;
  }

  /** False if decoding would take too long and delay others. */
  #decode(event: StreamEvent, data: Buffer): boolean {
    let eventToDecode = event;
    if (holdsMoreThan(data, mostInEvent)) {
      const lean = this.#leanEvent?.(data);
      if (lean === undefined || holdsMoreThan(lean, mostInEvent)) return false;
      eventToDecode = { ...event, data: lean };
    }
    this.#eventCount = 0;
    try {
      this.#decoder.push(eventToDecode, this.#takeOfEvent);
    } catch (error) {
      if (!(error instanceof SaysTooMuch)) throw error;
      return false;
    }
    return true;
  }

  completion(): string {
    this.#encoderEnded = true;
    this.#endDecoder();
    const { usage } = this;
    const reportedTokens = usage === null || usage.missingSide !== undefined ? null : usage.tokens;
    return this.#last + this.#encoder.end(reportedTokens);
  }

  fail(error: GatewayError): string | null {
    return this.#encoderEnded ? null : this.#encoder.fail(error);
  }

  #endDecoder(): void {
    if (this.#decoderEnded) return;
    this.#decoderEnded = true;
    const frames = this.#frames;
    this.#frames = '';
    this.#decoder.end(this.#take);
    this.#last = this.#frames;
    this.#frames = frames;
  }
}

/** One event contains more than is converted at once. */
class SaysTooMuch extends Error {}

function failureOf(message: string): unknown {
  return Object.freeze({ error: { code: null, message, status: null } });
}

const slabSize = 64 * 1024;
let slab = Buffer.allocUnsafeSlow(slabSize);
let slabUsed = 0;

/** Consecutive frames are adjacent in memory, so that they can be written as one. */
function bytesOf(text: string): Buffer {
  const most = text.length * 3;
  if (most > slabSize / 4) return Buffer.from(text);
  if (slabUsed + most > slabSize) {
    slab = Buffer.allocUnsafeSlow(slabSize);
    slabUsed = 0;
  }
  const start = slabUsed;
  slabUsed += slab.write(text, start, 'utf8');
  return slab.subarray(start, slabUsed);
}

function holdsContent(event: GenerationEvent): boolean {
  switch (event.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      return event.text !== '';
    case 'call-start':
    case 'call-arguments':
    case 'block':
      return true;
    default:
      return false;
  }
}

/** Reads an upstream's response in its protocol and produces the client's; has the interface that attempts know. */
export type ResponseReader = Pick<Protocol, 'readResponse' | 'createStreamTap'>;

/** Turns the upstream's response into the client's and records the losses. */
export function createConvertedReader(upstream: Protocol, passes: ResponsePasses): ResponseReader {
  return {
    readResponse(body: Buffer, echo: ModelEcho): WireResponse {
      const { usage } = upstream.readResponse(body, withoutEcho(echo));
      const json = parsePassingOn(body, passes.upstream.passedOn);
      if (!isRecord(json)) throw new UnreadableResponse('the response is not a JSON object');
      const response = passes.upstream.decodeResponse(json);
      if (isEmpty(response)) throw new UnreadableResponse('the response is empty', null, usage);
      const passedResponse = passResponse(passes, response);
      const reportedTokens = usage === null || saysNothing(usage) ? null : usage.tokens;
      const clientJson = passes.client.encodeResponse(
        passedResponse,
        reportedTokens,
        passes.context,
      );
      return { body: Buffer.from(JSON.stringify(clientJson)), usage };
    },
    createStreamTap(context: StreamContext): StreamTap {
      return new ConvertedTap(
        upstream.createStreamTap({ ...withoutEcho(context), usageInjected: false }),
        passes,
      );
    },
  };
}

/** Without the model echo, because the client never sees this form. */
function withoutEcho({ upstreamModel }: ModelEcho): ModelEcho {
  return { clientModel: upstreamModel, upstreamModel };
}

/** Whether it has neither content nor a reason for being empty. */
function isEmpty({ candidates }: GenerationResponse): boolean {
  return candidates.every(
    ({ blocks, finish }) =>
      finish.reason === 'other' &&
      blocks.every(
        (block) => (block.type === 'text' || block.type === 'reasoning') && block.text === '',
      ),
  );
}
