import type { Block, Finish, GenerationEvent, TokenUsage } from '#canonical/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { ResponseContext, StreamEncoder } from '../../../codec.ts';
import { frame } from '../../../shared/text/events.ts';
import {
  textDelta,
  thinkingDelta,
  writePiece,
  type CallPiece,
  type Piece,
  type WordsPiece,
  wordsPiece,
} from './block-frames.ts';
import { encodeUsage, callId, messageHead } from '../response/message-frame.ts';
import { encodeStreamError } from '../../errors.ts';
import { encodeFinish } from '../response/finish.ts';
import { encodeOutput, isRedacted, signatureOf } from '../response/encode-response.ts';

type StateOf = Extract<GenerationEvent, { type: 'state' }>['state'];
type CallStart = Extract<GenerationEvent, { type: 'call-start' }>;

const ping = frame('ping', '{"type":"ping"}');

/**
 * Blocks form a queue, of which the first is open. Its content goes out at once; the others wait for their turn. So
 * exactly one block is open, however the calls of a response interleave.
 */
export class MessagesStreamEncoder implements StreamEncoder {
  readonly #context: ResponseContext;
  readonly #line: Piece[] = [];
  /** Index of the open block in the queue. Removing blocks would move all others. */
  #head = 0;
  readonly #openCalls = new Map<number, CallPiece>();
  /** The open text or thinking, to which deltas of its kind belong. Always the last in the queue. */
  #words: WordsPiece | null = null;
  #index = 0;
  #started = false;
  #calls = 0;
  #finish: Finish = { reason: 'other' };

  constructor(context: ResponseContext) {
    this.#context = context;
  }

  push(event: GenerationEvent): string {
    // The protocol has room for one choice.
    if (event.choice !== undefined && event.choice > 0) return '';
    switch (event.type) {
      case 'text':
        return this.#say('text', event.text);
      case 'refusal':
        return this.#say('refusal', event.text);
      case 'reasoning':
        return this.#say('thinking', event.text, event.summary);
      case 'state':
        return this.#state(event.state);
      case 'block-end':
        this.#endWords();
        return this.#advance();
      case 'call-start':
        return this.#callStart(event);
      case 'call-arguments':
        return this.#callArguments(event.call, event.text);
      case 'call-end':
        return this.#callEnd(event.call);
      case 'block':
        return this.#block(event.block);
      case 'citation':
        // Citations in this protocol carry an index that only their maker can read.
        return '';
      case 'finish':
        this.#finish = event.finish;
        return '';
    }
  }

  end(usage: TokenUsage | null): string {
    this.#endWords();
    for (const piece of this.#openCalls.values()) piece.done = true;
    const rest = this.#advance();
    const delta = JSON.stringify({
      type: 'message_delta',
      delta: { ...encodeFinish(this.#finish, this.#calls > 0), container: null },
      usage: encodeUsage(usage, this.#context.inputTokens),
    });
    const ending = frame('message_delta', delta) + frame('message_stop', '{"type":"message_stop"}');
    return rest + this.#begun(ending);
  }

  fail(error: GatewayError): string {
    return encodeStreamError(error, this.#context.requestId);
  }

  #say(kind: WordsPiece['kind'], text: string, summary?: boolean): string {
    if (text === '') return '';
    const words = this.#words;
    if (words === null || words.kind !== kind || words.summary !== summary) {
      this.#endWords();
      this.#words = wordsPiece(kind, text, summary);
      this.#line.push(this.#words);
      return this.#advance();
    }
    if (words.begun) {
      return kind === 'thinking' ? thinkingDelta(this.#index, text) : textDelta(this.#index, text);
    }
    words.text += text;
    return this.#advance();
  }

  #state(state: StateOf): string {
    if (isRedacted(state)) {
      return this.#whole({ type: 'redacted_thinking', data: state.data });
    }
    const signature = signatureOf(state);
    if (signature === null) return '';
    if (this.#words !== null) {
      // State of a text has no place here. State as a block comes after the text was closed.
      if (this.#words.kind === 'thinking') this.#words.signature = signature;
      return '';
    }
    this.#line.push({ ...wordsPiece('thinking', ''), signature, done: true });
    return this.#advance();
  }

  #callStart({ call, id, name }: CallStart): string {
    this.#endWords();
    const piece: CallPiece = {
      kind: 'call',
      call,
      id: id ?? callId(this.#context, this.#calls),
      name,
      text: '',
      opening: '',
      begun: false,
      done: false,
    };
    this.#calls += 1;
    this.#line.push(piece);
    this.#openCalls.set(call, piece);
    return this.#advance();
  }

  #callArguments(call: number, text: string): string {
    const piece = this.#openCalls.get(call);
    if (piece === undefined || text === '') return '';
    piece.text += text;
    if (piece.opening === '') piece.opening = text.trimStart().charAt(0);
    return piece === this.#line[this.#head] ? this.#begun(writePiece(this.#index, piece)) : '';
  }

  #callEnd(call: number): string {
    const piece = this.#openCalls.get(call);
    if (piece === undefined) return '';
    piece.done = true;
    this.#openCalls.delete(call);
    return this.#advance();
  }

  #block(block: Block): string {
    if (block.type === 'text' || block.type === 'refusal') {
      this.#endWords();
      return this.#say(block.type, block.text) + this.push({ type: 'block-end' });
    }
    const wire = encodeOutput(block, () => callId(this.#context, this.#calls));
    if (wire === null) return '';
    switch (wire['type']) {
      case 'tool_use':
        this.#calls += 1;
        return this.#whole(wire);
      case 'text':
        this.#endWords();
        return this.#say('text', String(wire['text'])) + this.push({ type: 'block-end' });
      case 'thinking': {
        this.#endWords();
        const words = wordsPiece('thinking', String(wire['thinking']));
        words.signature = wire['signature'] === '' ? null : String(wire['signature']);
        words.done = true;
        this.#line.push(words);
        return this.#advance();
      }
      default:
        return this.#whole(wire);
    }
  }

  #whole(block: Record<string, unknown>): string {
    this.#endWords();
    this.#line.push({ kind: 'whole', block, done: true });
    return this.#advance();
  }

  #endWords(): void {
    if (this.#words !== null) this.#words.done = true;
    this.#words = null;
  }

  /** Writes the blocks whose turn has come. */
  #advance(): string {
    let frames = '';
    for (let piece = this.#line[this.#head]; piece !== undefined; piece = this.#line[this.#head]) {
      frames += writePiece(this.#index, piece);
      if (!piece.done) break;
      this.#head += 1;
      if (piece.kind === 'whole' || piece.begun) this.#index += 1;
    }
    if (this.#head === this.#line.length) {
      this.#line.length = 0;
      this.#head = 0;
    }
    return this.#begun(frames);
  }

  /** Opens the message before its first frames. */
  #begun(frames: string): string {
    if (this.#started || frames === '') return frames;
    this.#started = true;
    const message = {
      ...messageHead(this.#context),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: encodeUsage(null, this.#context.inputTokens),
    };
    const data = JSON.stringify({ type: 'message_start', message });
    return frame('message_start', data) + ping + frames;
  }
}
