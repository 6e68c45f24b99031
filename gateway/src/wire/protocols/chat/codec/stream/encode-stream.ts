import type {
  GenerationEvent,
  TokenUsage,
  Block,
  Citation,
  Finish,
  NativeState,
  TokenLogprob,
} from '#canonical/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { ResponseContext, StreamEncoder } from '../../../codec.ts';
import { encodeStreamErrorObject } from '../../../shared/text/error-object.ts';
import { frame } from '../../../shared/text/events.ts';
import { writeUsage, moved, writeCitation, writeLogprobs } from '../response/response-details.ts';
import {
  responseId,
  ResponseText,
  callId,
  markdownImage,
  wordsOf,
} from '../response/response-parts.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { writeFinish } from '../response/finish.ts';
import { wantsFunctionCall, stateMembers } from '../tool-calls.ts';
import { memberName } from '../request/message-members.ts';
import { contentId, ownDetail } from '../reasoning.ts';

/** Writes chunks. Choices may interleave. Each begins with its role and ends with its finish reason. */
export class ChatStreamEncoder implements StreamEncoder {
  readonly #context: ResponseContext;
  readonly #frame: ChunkFrame;
  readonly #choices = new Map<number, ChoiceEncoder>();
  #isOver = false;

  constructor(context: ResponseContext) {
    this.#context = context;
    const created = Math.trunc(context.createdAt);
    const name = `"created":${created},"model":${JSON.stringify(context.model)}`;
    this.#frame = {
      head: `data: {"id":"${responseId(context.requestId)}","object":"chat.completion.chunk",${name},"choices":`,
      // Chunks before the one with the usage have a null `usage`.
      tail: context.request.wantsUsage ? ',"usage":null}\n\n' : '}\n\n',
    };
  }

  push(event: GenerationEvent): string {
    if (this.#isOver) return '';
    const index = event.choice ?? 0;
    const choice = this.#choices.get(index);
    return choice === undefined ? this.#begin(index, event) : choice.push(event);
  }

  end(usage: TokenUsage | null): string {
    if (this.#isOver) return '';
    this.#isOver = true;
    let chunks = '';
    if (this.#choices.size === 0) chunks += this.#create(0).begin();
    for (const choice of this.#choices.values()) chunks += choice.end();
    if (usage !== null && this.#context.request.wantsUsage) {
      chunks += `${this.#frame.head}[],"usage":${JSON.stringify(writeUsage(usage))}}\n\n`;
    }
    return chunks + frame(null, '[DONE]');
  }

  fail(error: GatewayError): string {
    if (this.#isOver) return '';
    this.#isOver = true;
    return frame(null, encodeStreamErrorObject(error));
  }

  #begin(index: number, event: GenerationEvent): string {
    const choice = this.#create(index);
    return choice.begin() + choice.push(event);
  }

  #create(index: number): ChoiceEncoder {
    const choice = new ChoiceEncoder(index, this.#frame, this.#context);
    this.#choices.set(index, choice);
    return choice;
  }
}

type CallStart = Extract<GenerationEvent, { type: 'call-start' }>;

interface SentCall {
  readonly index: number;
  readonly kind: 'function' | 'custom';
  hasArguments: boolean;
  isEnded: boolean;
}

/** The JSON text around one choice of every chunk. Built once, since chunks differ only in their delta. */
export interface ChunkFrame {
  /** Before the choices. */
  readonly head: string;
  /** After the choices. */
  readonly tail: string;
}

/**
 * Writes the chunks of one choice. The first has the role; the last, from `end`, alone has a finish reason. Calls count
 * from 0, whatever else the response holds.
 */
export class ChoiceEncoder {
  readonly #index: number;
  readonly #context: ResponseContext;
  readonly #before: string;
  readonly #after: string;
  readonly #tail: string;
  readonly #place = new ResponseText();
  readonly #calls = new Map<number, SentCall>();
  readonly #citations: Citation[] = [];
  readonly #isLegacy: boolean;
  #openBlock: 'text' | 'refusal' | 'reasoning' | null = null;
  #details = 0;
  #finish: Finish | null = null;

  constructor(index: number, frame: ChunkFrame, context: ResponseContext) {
    this.#index = index;
    this.#context = context;
    this.#isLegacy = wantsFunctionCall(context.request);
    this.#before = `${frame.head}[{"index":${index},"delta":`;
    this.#tail = `}]${frame.tail}`;
    this.#after = `,"logprobs":null,"finish_reason":null${this.#tail}`;
  }

  begin(): string {
    return this.#chunk('{"role":"assistant","content":""}');
  }

  push(event: GenerationEvent): string {
    switch (event.type) {
      case 'text':
        return this.#text(event.text, event.logprobs);
      case 'reasoning':
        return this.#reasoning(event.text);
      case 'refusal':
        return this.#refusal(event.text);
      case 'state':
        return this.#state(event.state);
      case 'block-end':
        this.#openBlock = null;
        return '';
      case 'call-start':
        return this.#callStart(event);
      case 'call-arguments':
        return this.#callArguments(event.call, event.text);
      case 'call-end':
        return this.#callEnd(event.call);
      case 'block':
        return this.#block(event.block);
      case 'citation':
        return this.#cite(event.citation);
      case 'finish':
        this.#finish ??= event.finish;
        return '';
    }
  }

  end(): string {
    let chunks = '';
    for (const call of this.#calls.keys()) chunks += this.#callEnd(call);
    if (this.#citations.length > 0) {
      chunks += this.#chunk(JSON.stringify({ annotations: this.#citations.map(writeCitation) }));
    }
    const callKind = this.#calls.size === 0 ? 'none' : this.#isLegacy ? 'function' : 'tools';
    const reason = writeFinish(this.#finish, callKind);
    return `${chunks}${this.#before}{},"logprobs":null,"finish_reason":"${reason}"${this.#tail}`;
  }

  #cite(citation: Citation | null): string {
    if (citation !== null) this.#citations.push(moved(citation, this.#place.textStart));
    return '';
  }

  #chunk(delta: string): string {
    return this.#before + delta + this.#after;
  }

  #text(text: string, logprobs: readonly TokenLogprob[] | undefined): string {
    if (text === '') return '';
    const gap = this.#openBlock === 'text' ? '' : this.#place.openText();
    this.#openBlock = 'text';
    this.#place.contentLength += text.length;
    const delta = `{"content":${JSON.stringify(gap + text)}}`;
    if (logprobs === undefined || this.#context.request.logprobs === null)
      return this.#chunk(delta);
    const logprobsJson = JSON.stringify(writeLogprobs(logprobs));
    return `${this.#before}${delta},"logprobs":${logprobsJson},"finish_reason":null${this.#tail}`;
  }

  #reasoning(text: string): string {
    if (text === '') return '';
    const gap = this.#openBlock === 'reasoning' ? '' : this.#place.openReasoning();
    this.#openBlock = 'reasoning';
    this.#place.reasoningLength += text.length;
    return this.#chunk(`{"reasoning_content":${JSON.stringify(gap + text)}}`);
  }

  #refusal(text: string): string {
    if (text === '') return '';
    this.#interrupt();
    this.#openBlock = 'refusal';
    return this.#chunk(`{"refusal":${JSON.stringify(text)}}`);
  }

  /** State of the open block, or of a block that consists of it. */
  #state(state: NativeState): string {
    if (this.#openBlock === null) {
      this.#place.reasoningStart = this.#place.reasoningLength;
      this.#place.interrupt();
    }
    const detail = this.#detail(state, this.#openBlock === 'text' ? contentId : null);
    return detail === null ? '' : this.#chunk(JSON.stringify({ reasoning_details: [detail] }));
  }

  /** Only envelopes are useful to a client, which can return them. */
  #detail(state: NativeState, id: string | null): JsonRecord | null {
    if (state.kind !== 'envelope') return null;
    const { reasoningStart: start, reasoningLength: end } = this.#place;
    const detail = ownDetail({ state, id, start, end }, this.#details);
    this.#details += 1;
    return detail;
  }

  #callStart({ call, id, name, kind, state }: CallStart): string {
    if (this.#calls.has(call)) return '';
    this.#interrupt();
    const index = this.#calls.size;
    // The legacy form has room for one call.
    if (this.#isLegacy && index > 0) return '';
    this.#calls.set(call, { index, kind, hasArguments: false, isEnded: false });
    if (this.#isLegacy) {
      return this.#chunk(JSON.stringify({ function_call: { name, arguments: '' } }));
    }
    const idOfCall = id ?? callId(this.#context.requestId, this.#index, index);
    const entry = {
      index,
      id: idOfCall,
      type: kind,
      ...(kind === 'custom'
        ? { custom: { name, input: '' } }
        : { function: { name, arguments: '' } }),
      ...stateMembers(state),
    };
    const delta: JsonRecord = { tool_calls: [entry] };
    const detail = state === undefined ? null : this.#detail(state, idOfCall);
    return this.#chunk(
      JSON.stringify(detail === null ? delta : { ...delta, reasoning_details: [detail] }),
    );
  }

  #callArguments(number: number, text: string): string {
    const call = this.#calls.get(number);
    if (call === undefined || call.isEnded || text === '') return '';
    call.hasArguments = true;
    const textJson = JSON.stringify(text);
    if (this.#isLegacy) return this.#chunk(`{"function_call":{"arguments":${textJson}}}`);
    const piece =
      call.kind === 'custom'
        ? `"custom":{"input":${textJson}}`
        : `"function":{"arguments":${textJson}}`;
    return this.#chunk(`{"tool_calls":[{"index":${call.index},${piece}}]}`);
  }

  /** Clients parse arguments as JSON, so a call without any gets an empty object. */
  #callEnd(number: number): string {
    const call = this.#calls.get(number);
    if (call === undefined || call.isEnded) return '';
    const isBare = !call.hasArguments && call.kind === 'function';
    const chunk = isBare ? this.#callArguments(number, '{}') : '';
    call.isEnded = true;
    return chunk;
  }

  #block(block: Block): string {
    switch (block.type) {
      case 'text':
        return this.#complete(this.#text(block.text, block.logprobs), block.state);
      case 'reasoning':
        return this.#complete(this.#reasoning(block.text), block.state);
      case 'refusal':
        return this.#complete(this.#refusal(block.text), undefined);
      case 'image':
        return this.#image(markdownImage(block));
      default:
        return this.#other(block);
    }
  }

  #complete(chunk: string, state: NativeState | undefined): string {
    const chunks = state === undefined ? chunk : chunk + this.#state(state);
    this.#openBlock = null;
    return chunks;
  }

  #image(markdown: string | null): string {
    this.#openBlock = null;
    if (markdown === null) return '';
    const gap = this.#place.openImage();
    this.#place.contentLength += markdown.length;
    return this.#chunk(`{"content":${JSON.stringify(gap + markdown)}}`);
  }

  #other(block: Block): string {
    this.#interrupt();
    const member = block.type === 'opaque' && block.protocol === 'chat' ? memberName(block) : null;
    if (block.type === 'opaque' && member !== null) {
      return this.#chunk(JSON.stringify({ [member]: block.value }));
    }
    const words = wordsOf(block);
    if (words === null) return '';
    const chunk = this.#text(words, undefined);
    this.#interrupt();
    return chunk;
  }

  #interrupt(): void {
    this.#openBlock = null;
    this.#place.interrupt();
  }
}
