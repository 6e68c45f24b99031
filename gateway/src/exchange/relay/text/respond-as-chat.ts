import type { Converter } from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import { ownerOf } from '#identity/index.ts';
import {
  type JsonScan,
  type MemberRange,
  removeMember,
  replaceValue,
  scanJson,
  skipSpace,
  splice,
  watchList,
} from '#json/index.ts';
import {
  isRecord,
  type StreamEvent,
  type StreamTap,
  textCodecs,
  textProtocols,
  verdict,
} from '#protocols/index.ts';
import { EventStreamReader } from '#upstream/index.ts';
import type { ClientResponse } from '../exchange.ts';
import type { TextInput } from './input.ts';

function hasKey(body: Buffer, key: string): boolean {
  let at = body.indexOf(key);
  while (at >= 0 && body[skipSpace(body, at + key.length)] !== colon)
    at = body.indexOf(key, at + 1);
  return at >= 0;
}

const colon = ':'.charCodeAt(0);

/** More is left to the endpoint of responses: the body is read once more. */
const mostBytes = 2 * 1024 * 1024;

/**
 * Cursor sends requests of responses to the endpoint of chat: with `input`, flat tools and `reasoning`, and the
 * expectation of a chat response (https://docs.litellm.ai/docs/tutorials/cursor_integration). The same request for the
 * protocol of responses, whose response the client gets in chat's form; any other request is returned as it is.
 *
 * Every request of chat has `messages`, mostly near its beginning, so one short search is enough. A quote inside of a
 * text is escaped, so only keys look like this.
 */
export function respondAsChat(converter: Pick<Converter, 'read'>, input: TextInput): TextInput {
  const { body } = input;
  if (body.length > mostBytes || body.includes('"messages"') || !hasKey(body, '"input"'))
    return input;
  const responsesRequest = requestIn(body);
  if (responsesRequest === null) return input;
  const client = new ChatClient(converter, input, responsesRequest.wantsUsage);
  // Only the new input may keep the body in memory.
  input.body = noBody;
  return { ...input, protocol: 'responses', body: responsesRequest.body, client };
}

const noBody = Buffer.alloc(0);

/** What the endpoint of responses reads in another form, or not at all. */
const watchedMembers = watchList(['tool_choice', 'stream_options.include_usage']);

/** What belongs to chat is taken out of the body: responses refuse it. Null if the relay refuses the body as it is. */
function requestIn(body: Buffer): { readonly body: Buffer; readonly wantsUsage: boolean } | null {
  const members = membersIn(body);
  if (members === null) return null;
  const [options, choice] = [members.get('stream_options'), members.get('tool_choice')];
  const value = shortValue(body, choice);
  const mode = isRecord(value) && Object.keys(value).length === 1 ? value['type'] : undefined;
  const edits = options === undefined ? [] : [removeMember(body, options)];
  if (choice !== undefined && modes.has(mode)) edits.push(replaceValue(choice, mode));
  return {
    body: splice(body, edits),
    wantsUsage: shortValue(body, members.get('stream_options.include_usage')) === true,
  };
}

/** Cursor writes `{"type":"auto"}`. */
const modes: ReadonlySet<unknown> = new Set(['auto', 'none', 'required']);

/** The body is scanned, not parsed: a parser takes 0.2 s for bodies of this size that consist of brackets. */
function membersIn(body: Buffer): JsonScan['members'] | null {
  try {
    return scanJson(body, watchedMembers).members;
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}

/** In bytes. */
const longestValue = 256;

/** Undefined for a longer value, and for what is not JSON, which the relay refuses. */
function shortValue(body: Buffer, member: MemberRange | undefined): unknown {
  if (member === undefined || member.valueEnd - member.valueStart > longestValue) return undefined;
  try {
    return JSON.parse(body.toString('utf8', member.valueStart, member.valueEnd));
  } catch {
    return undefined;
  }
}

/** A request without members: what a response in chat's form depends on is in the upstream's response. */
const plainRequest = (usage: boolean) => {
  const body = { model: 'any', messages: [], stream_options: { include_usage: usage } };
  const path = { operation: 'generate', model: null, stream: null } as const;
  const { openRequest, readRequest } = textProtocols.chat;
  const openedRequest = openRequest(Buffer.from(JSON.stringify(body)), path);
  return textCodecs.chat.decodeRequest(readRequest(openedRequest));
};

/** No event of the gateway's own is larger. */
const maxEventBytes = 64 * 1024 * 1024;

/** Turns the answer of responses that is written to it into chat's, and passes everything else on. */
class ChatClient implements ClientResponse {
  readonly #converter: Pick<Converter, 'read'>;
  readonly #input: Pick<TextInput, 'id' | 'arrivedAt' | 'caller'>;
  readonly #client: ClientResponse;
  readonly #wantsUsage: boolean;
  #stream: EventStreamReader | null = null;
  #tap: StreamTap | null = null;
  /** The head of a whole answer, until its length is known; null: it has been sent. */
  #head: { readonly status: number; readonly headers: Readonly<Record<string, string>> } | null =
    null;
  #pieces: Buffer[] = [];
  #hasFailed = false;
  #isRoom = true;

  constructor(
    converter: Pick<Converter, 'read'>,
    { id, arrivedAt, caller, client }: TextInput,
    usage: boolean,
  ) {
    this.#converter = converter;
    this.#input = { id, arrivedAt, caller };
    this.#client = client;
    this.#wantsUsage = usage;
  }

  start(status: number, headers: Readonly<Record<string, string>>): void {
    if (status !== 200) return this.#client.start(status, headers);
    if (headers['content-type']?.startsWith('text/event-stream') !== true) {
      this.#head = { status, headers };
      return;
    }
    this.#client.start(status, headers);
    this.#stream = new EventStreamReader({
      maxEventBytes,
      onEvent: (event) => this.#take(event),
    });
  }

  #take(event: StreamEvent): void {
    if (event.data === null) return this.#pass(event.raw);
    // The first event names the model.
    this.#tap ??= this.#reading(modelIn(JSON.parse(event.data.toString()))).createStreamTap({
      clientModel: '',
      upstreamModel: '',
      usageInjected: false,
    });
    const flags = this.#tap.inspect(event);
    if ((flags & verdict.failed) !== 0) {
      this.#hasFailed = true;
      this.#pass(`data: ${JSON.stringify(errorOf(this.#tap.failure))}\n\n`);
    } else if ((flags & verdict.replace) !== 0 && this.#tap.replacement !== null) {
      this.#pass(this.#tap.replacement);
    }
  }

  write(bytes: Buffer | string): boolean {
    const stream = this.#stream;
    if (stream === null && this.#head === null) return this.#client.write(bytes);
    this.#isRoom = true;
    if (stream === null) this.#pieces.push(Buffer.from(bytes));
    else stream.push(Buffer.from(bytes));
    return this.#isRoom;
  }

  end(bytes?: Buffer | string): void {
    const [stream, head] = [this.#stream, this.#head];
    if (stream === null && head === null) return this.#client.end(bytes);
    if (bytes !== undefined) this.write(bytes);
    if (stream !== null) {
      stream.end();
      const isWhole = !this.#hasFailed && this.#tap?.finished === true;
      return this.#client.end(isWhole ? this.#tap?.completion() : undefined);
    }
    if (head === null) return;
    this.#head = null;
    const body = this.#wholeBody(Buffer.concat(this.#pieces));
    const length = { 'content-length': String(body.length) };
    this.#client.start(head.status, { ...head.headers, ...length });
    this.#client.end(body);
  }

  fail(error: GatewayError): void {
    this.#client.fail(error);
  }

  get failedWith(): GatewayError | null {
    return this.#client.failedWith;
  }

  get headSent(): boolean {
    return this.#head !== null || this.#client.headSent;
  }

  get disconnected(): boolean {
    return this.#client.disconnected;
  }

  get halfClosed(): boolean {
    return this.#client.halfClosed;
  }

  onDisconnect(listener: () => void): void {
    this.#client.onDisconnect(listener);
  }

  onDrain(listener: () => void): void {
    this.#client.onDrain(listener);
  }

  #pass(bytes: Buffer | string): void {
    if (!this.#client.write(bytes)) this.#isRoom = false;
  }

  #wholeBody(body: Buffer): Buffer {
    const model = modelIn({ response: JSON.parse(body.toString()) });
    return this.#reading(model).readResponse(body, { clientModel: model, upstreamModel: model })
      .body;
  }

  #reading(model: string) {
    const { id, arrivedAt, caller } = this.#input;
    return this.#converter.read({
      context: {
        requestId: id,
        model,
        createdAt: Math.floor(arrivedAt / 1000),
        request: plainRequest(this.#wantsUsage),
        inputTokens: 0,
      },
      client: 'chat',
      upstream: 'responses',
      clientTools: new Map(),
      maker: '',
      place: '',
      owner: ownerOf(caller),
    }).reader;
  }
}

/** The model that an event of responses names. */
function modelIn(event: unknown): string {
  const response = isRecord(event) ? event['response'] : undefined;
  const model = isRecord(response) ? response['model'] : undefined;
  return typeof model === 'string' ? model : '';
}

/** Responses that fail name no type of error, and clients of chat expect one. */
function errorOf(failure: unknown): unknown {
  const error = isRecord(failure) && isRecord(failure['error']) ? failure['error'] : {};
  return { error: { ...error, type: error['type'] ?? 'server_error' } };
}
