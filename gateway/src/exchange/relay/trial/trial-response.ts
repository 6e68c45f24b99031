import type { GatewayError } from '#errors/index.ts';
import type { ClientResponse } from '../exchange.ts';

/** No upstream needs more to show that it works. */
const mostReceived = 256 * 1024;

/** The client's side of a trial: keeps what the model says. */
export class TrialResponse implements ClientResponse {
  readonly #note: (step: 'first_token' | 'end') => void;
  headSent = false;
  disconnected = false;
  failedWith: GatewayError | null = null;
  readonly halfClosed = false;
  /** What is outside of events: the body of an error. */
  #body = '';
  #length = 0;
  /** The end of what arrived, up to the next line end. */
  #line = '';
  #said = '';
  #hasCalled = false;
  #hasThought = false;
  #onLeave: (() => void) | null = null;
  errorMessage = '';

  /** @param note is called with the first word, call or thought of the model, and with the end */
  constructor(note: (step: 'first_token' | 'end') => void) {
    this.#note = note;
  }

  start(): void {
    this.headSent = true;
  }

  /** Each line is read once: an upstream may send any number of tiny pieces. */
  write(bytes: Buffer | string): boolean {
    this.#length += bytes.length;
    if (this.#length > mostReceived) return true;
    const lines = (this.#line + bytes.toString()).split('\n');
    this.#line = lines.pop() ?? '';
    for (const line of lines) this.#read(line);
    if (this.text !== '') this.#note('first_token');
    return true;
  }

  end(bytes?: Buffer | string): void {
    if (bytes !== undefined) this.write(bytes);
    this.#read(this.#line);
    this.#take(parse(this.#body));
    this.#note('end');
  }

  fail(error: GatewayError): void {
    this.failedWith = error;
    this.headSent = true;
    this.leave();
  }

  leave(): void {
    this.disconnected = true;
    this.#onLeave?.();
  }

  onDisconnect(listener: () => void): void {
    this.#onLeave = listener;
    if (this.disconnected) listener();
  }

  onDrain(): void {}

  /** What the model said, or that it called the tool. */
  get text(): string {
    if (this.#said !== '') return this.#said;
    if (this.#hasCalled) return '(a call of the tool)';
    return this.#hasThought ? '(only reasoning)' : '';
  }

  #read(line: string): void {
    if (line.startsWith('data: {')) this.#take(parse(line.slice('data: '.length)));
    else if (!line.startsWith('data:')) this.#body += line;
  }

  #take(event: ChatEvent | null): void {
    if (typeof event?.error?.message === 'string') this.errorMessage = event.error.message;
    const delta = event?.choices?.[0]?.delta;
    if (typeof delta?.content === 'string') this.#said += delta.content;
    this.#hasCalled ||= delta?.tool_calls !== undefined;
    this.#hasThought ||= delta?.reasoning_content !== undefined;
  }
}

interface ChatEvent {
  readonly error?: { readonly message?: unknown };
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null;
      readonly tool_calls?: unknown;
      readonly reasoning_content?: unknown;
    };
  }[];
}

function parse(text: string): ChatEvent | null {
  try {
    return JSON.parse(text) as ChatEvent;
  } catch {
    return null;
  }
}
