import type {
  GenerationEvent,
  TokenUsage,
  Finish,
  NativeState,
  TokenLogprob,
} from '#canonical/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { ResponseContext, StreamEncoder } from '../../../codec.ts';
import { frame } from '../../../shared/text/events.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import {
  responseMembers,
  emptyPart,
  hidesThoughts,
  promptFeedback,
  responsePart,
  callPart,
  withoutThoughts,
} from '../response/encode-response.ts';
import { encodeStreamError } from '../../errors.ts';
import { writeUsage, encodeFinish, writeLogprobs } from '../response/candidate-members.ts';
import { clientSignature } from '../parts.ts';

/** Writes frames. Each is a response with the new parts; the last one ends all candidates. */
export function createStreamEncoder(context: ResponseContext): StreamEncoder {
  const members = responseMembers(context);
  const tail = `],${JSON.stringify(members).slice(1)}`;
  const hidden = hidesThoughts(context);
  /** By their index. */
  const candidates = new Map<number, CandidateEncoder>();
  let isOver = false;

  const candidateOf = (index: number): CandidateEncoder => {
    let candidate = candidates.get(index);
    if (candidate === undefined) {
      candidate = new CandidateEncoder(index, tail, hidden);
      candidates.set(index, candidate);
    }
    return candidate;
  };

  return {
    push(event: GenerationEvent): string {
      return isOver ? '' : candidateOf(event.choice ?? 0).push(event);
    },
    end(usage: TokenUsage | null): string {
      if (isOver) return '';
      isOver = true;
      const all = [...candidates.values()].toSorted((a, b) => a.index - b.index);
      const isBlocked = all.length > 0 && all.every((candidate) => candidate.isRefusedPrompt);
      const heldFrames = isBlocked ? '' : all.map((candidate) => candidate.flush()).join('');
      const last: JsonRecord = {
        ...(isBlocked ? { promptFeedback } : { candidates: ends(all) }),
        ...(usage === null ? {} : { usageMetadata: writeUsage(usage) }),
        ...members,
      };
      return heldFrames + frame(null, JSON.stringify(last));
    },
    fail(error: GatewayError): string {
      isOver = true;
      return encodeStreamError(error);
    },
  };
}

/** Even an empty response has an end. */
function ends(candidates: readonly CandidateEncoder[]): JsonRecord[] {
  if (candidates.length > 0) return candidates.map((candidate) => candidate.end());
  return [{ content: { role: 'model', parts: [emptyPart] }, finishReason: 'STOP', index: 0 }];
}

type CallStart = Extract<GenerationEvent, { type: 'call-start' }>;

interface HeldCall {
  readonly start: CallStart;
  arguments: string;
}

/** Writes one candidate of a stream. Holds calls until they are complete, since clients parse each part by itself. */
class CandidateEncoder {
  readonly index: number;
  /** The text of a frame before its parts, and after the candidate. */
  readonly #head = 'data: {"candidates":[{"content":{"role":"model","parts":[';
  readonly #end: string;
  readonly #tail: string;
  readonly #hidesThoughts: boolean;
  readonly #calls = new Map<number, HeldCall>();
  /** A text is open, so a signature belongs to it. Otherwise it belongs to reasoning. */
  #inText = false;
  #isEmpty = true;
  #finish: Finish = { reason: 'end' };

  constructor(index: number, tail: string, hidesThoughts: boolean) {
    this.index = index;
    this.#hidesThoughts = hidesThoughts;
    this.#end = `]},"index":${index}}${tail}\n\n`;
    this.#tail = tail;
  }

  get isRefusedPrompt(): boolean {
    return this.#isEmpty && this.#calls.size === 0 && this.#finish.reason === 'blocked';
  }

  push(event: GenerationEvent): string {
    switch (event.type) {
      case 'text':
        return this.#text(event.text, event.logprobs);
      case 'refusal':
        return this.#text(event.text);
      case 'reasoning':
        return this.#thought(event.text);
      case 'state':
        return this.#state(event.state);
      case 'block-end':
        this.#inText = false;
        return '';
      case 'call-start':
        this.#inText = false;
        this.#calls.set(event.call, { start: event, arguments: '' });
        return '';
      case 'call-arguments': {
        const call = this.#calls.get(event.call);
        if (call !== undefined) call.arguments += event.text;
        return '';
      }
      case 'call-end':
        return this.#call(event.call);
      case 'block':
        return this.#block(event);
      case 'citation':
        // Sources need offsets that only this protocol's provider has.
        return '';
      case 'finish':
        this.#finish = event.finish;
        return '';
    }
  }

  /** The calls that no event ended. */
  flush(): string {
    return [...this.#calls.keys()].map((call) => this.#call(call)).join('');
  }

  /** The candidate of the last frame. */
  end(): JsonRecord {
    const finishReason = encodeFinish(this.#finish);
    return { content: { role: 'model', parts: [emptyPart] }, finishReason, index: this.index };
  }

  #text(text: string, logprobs?: readonly TokenLogprob[]): string {
    this.#inText = true;
    if (text === '') return '';
    this.#isEmpty = false;
    if (logprobs !== undefined && logprobs.length > 0) return this.#withLogprobs(text, logprobs);
    return `${this.#head}{"text":${JSON.stringify(text)}}${this.#end}`;
  }

  #withLogprobs(text: string, logprobs: readonly TokenLogprob[]): string {
    const content = { role: 'model', parts: [{ text }] };
    const candidate = { content, index: this.index, ...writeLogprobs(logprobs) };
    return `data: {"candidates":[${JSON.stringify(candidate)}${this.#tail}\n\n`;
  }

  #thought(text: string): string {
    this.#inText = false;
    if (text === '' || this.#hidesThoughts) return '';
    this.#isEmpty = false;
    return `${this.#head}{"text":${JSON.stringify(text)},"thought":true}${this.#end}`;
  }

  #state(state: NativeState): string {
    const thoughtSignature = clientSignature(state);
    if (thoughtSignature === undefined) return '';
    const thought = this.#inText ? {} : { thought: true };
    return this.#part({ text: '', ...thought, thoughtSignature });
  }

  #call(number: number): string {
    const call = this.#calls.get(number);
    if (call === undefined) return '';
    this.#calls.delete(number);
    const { id, name, state } = call.start;
    const part = callPart({ id, name, arguments: call.arguments });
    const thoughtSignature = clientSignature(state);
    return this.#part(thoughtSignature === undefined ? part : { ...part, thoughtSignature });
  }

  #block({ block }: Extract<GenerationEvent, { type: 'block' }>): string {
    this.#inText = false;
    const part = responsePart(this.#hidesThoughts ? withoutThoughts(block) : block);
    return part === null ? '' : this.#part(part);
  }

  #part(part: JsonRecord): string {
    this.#isEmpty = false;
    return `${this.#head}${JSON.stringify(part)}${this.#end}`;
  }
}
