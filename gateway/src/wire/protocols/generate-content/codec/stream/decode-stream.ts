import type { GenerationEvent, NativeState, TokenLogprob } from '#canonical/index.ts';
import type { StreamDecoder } from '../../../codec.ts';
import { parseRecord } from '../../../shared/text/events.ts';
import type { StreamEvent } from '../../../protocol.ts';
import { isRecord, type JsonRecord, recordAt } from '../../../shared/values.ts';
import { candidateIndex } from '../response/decode-response.ts';
import { blockReason, readLogprobs, decodeFinish } from '../response/candidate-members.ts';
import { decodeResponsePart } from '../request/decode-part.ts';
import { readGrounding, readRecitations } from '../response/grounding.ts';
import { addArguments, type PartialCall } from '../partial-call.ts';
import { readState } from '../parts.ts';

type Emit = (event: GenerationEvent) => void;

/**
 * Holds finishes back until the end: some upstreams repeat the reason in every chunk, and the sources of a text come
 * after it.
 */
export function createStreamDecoder(): StreamDecoder {
  /** By their index. */
  const candidates = new Map<number, CandidateDecoder>();
  let isBlocked = false;
  return {
    push(event: StreamEvent, emit: Emit) {
      if (event.data === null) return;
      const chunk = parseRecord(event.data, passedOn);
      if (chunk === null) return;
      if (blockReason(chunk) !== null) isBlocked = true;
      const writtenCandidates = chunk['candidates'];
      for (const record of Array.isArray(writtenCandidates) ? writtenCandidates : []) {
        if (!isRecord(record)) continue;
        const index = candidateIndex(record);
        let candidate = candidates.get(index);
        if (candidate === undefined) {
          candidate = new CandidateDecoder(index);
          candidates.set(index, candidate);
        }
        candidate.push(record, emit);
      }
    },
    end(emit: Emit) {
      if (isBlocked && candidates.size === 0) {
        emit({ type: 'finish', finish: { reason: 'blocked' } });
      }
      for (const candidate of candidates.values()) candidate.end(isBlocked, emit);
    },
  };
}

/** Members that are passed on unread, in both spellings. See `Codec.passedOn`. */
export const passedOn: ReadonlySet<string> = new Set([
  'args',
  'response',
  'parameters',
  'parametersJsonSchema',
  'parameters_json_schema',
  'responseSchema',
  'response_schema',
  'responseJsonSchema',
  'response_json_schema',
]);

type Delta = 'text' | 'reasoning';

/** Decodes one candidate of a stream, chunk by chunk. */
class CandidateDecoder {
  /** Absent in events of the first choice. */
  readonly #of: { readonly choice?: number };
  /** The block that receives deltas, and whether it has its state. */
  #openDelta: Delta | null = null;
  #isSigned = false;
  /** The latest text, to place its sources. */
  #text: string[] = [];
  #calls = 0;
  #partial: PartialCall | null = null;
  #grounding: unknown = null;
  readonly #recitations: unknown[] = [];
  #finish: unknown = null;

  constructor(index: number) {
    this.#of = index === 0 ? {} : { choice: index };
  }

  push(candidate: JsonRecord, emit: Emit): void {
    const { parts } = recordAt(candidate, 'content');
    let logprobs = readLogprobs(candidate['logprobsResult']);
    for (const part of Array.isArray(parts) ? parts : []) {
      if (!isRecord(part)) continue;
      const isText = this.#part(part, logprobs, emit);
      if (isText) logprobs = [];
    }
    const { groundingMetadata, citationMetadata, finishReason } = candidate;
    if (isRecord(groundingMetadata) && Object.keys(groundingMetadata).length > 0) {
      this.#grounding = groundingMetadata;
    }
    if (isRecord(citationMetadata)) this.#recitations.push(citationMetadata);
    if (finishReason !== undefined && finishReason !== null) this.#finish = finishReason;
  }

  end(isBlocked: boolean, emit: Emit): void {
    this.#endPartial(emit);
    const grounded = readGrounding(this.#grounding, this.#text.join(''));
    for (const citation of [...grounded, ...readRecitations(this.#recitations)]) {
      emit({ ...this.#of, type: 'citation', citation });
    }
    if (this.#finish === null && !isBlocked) return;
    const finish = decodeFinish(this.#finish ?? 'SAFETY', this.#calls > 0);
    emit({ ...this.#of, type: 'finish', finish });
  }

  /** Whether it was text that can have log probabilities. */
  #part(part: JsonRecord, logprobs: readonly TokenLogprob[], emit: Emit): boolean {
    const { text, thought } = part;
    if (typeof text === 'string') {
      const type = thought === true ? 'reasoning' : 'text';
      this.#delta(type, text, logprobs, readState(part), emit);
      return type === 'text' && text !== '';
    }
    const { functionCall } = part;
    if (isRecord(functionCall)) this.#call(functionCall, part, emit);
    else this.#block(part, emit);
    return false;
  }

  /** A part with text and a signature yields both. An empty one yields the signature alone. */
  #delta(
    type: Delta,
    text: string,
    logprobs: readonly TokenLogprob[],
    state: NativeState | undefined,
    emit: Emit,
  ): void {
    if (state !== undefined && this.#isSigned) this.#close(emit);
    if (text !== '') {
      this.#begin(type);
      if (type === 'reasoning') emit({ ...this.#of, type, text });
      else {
        this.#text.push(text);
        emit({ ...this.#of, type, text, ...(logprobs.length > 0 ? { logprobs } : {}) });
      }
    }
    if (state === undefined) return;
    // An empty thought never signs a text.
    if (type === 'reasoning' && this.#openDelta === 'text') this.#close(emit);
    emit({ ...this.#of, type: 'state', state });
    this.#openDelta ??= 'reasoning';
    this.#isSigned = true;
  }

  #begin(type: Delta): void {
    if (this.#openDelta === type) return;
    this.#openDelta = type;
    this.#isSigned = false;
    if (type === 'text') this.#text = [];
  }

  #close(emit: Emit): void {
    emit({ ...this.#of, type: 'block-end' });
    this.#forget();
  }

  #forget(): void {
    this.#openDelta = null;
    this.#isSigned = false;
  }

  #block(part: JsonRecord, emit: Emit): void {
    const block = decodeResponsePart(part);
    if (block === null) return;
    if (block.type === 'text') {
      this.#delta('text', '', [], block.state, emit);
      return;
    }
    this.#forget();
    emit({ ...this.#of, type: 'block', block });
  }

  /** Calls come complete, one per part. A part without a name continues the call before. */
  #call(writtenCall: JsonRecord, part: JsonRecord, emit: Emit): void {
    const { name, id, args, willContinue, partialArgs } = writtenCall;
    if (typeof name === 'string' && name !== '') {
      this.#endPartial(emit);
      this.#forget();
      const state = readState(part);
      const call = this.#calls;
      this.#calls += 1;
      emit({
        ...this.#of,
        type: 'call-start',
        call,
        id: typeof id === 'string' && id !== '' ? id : null,
        name,
        kind: 'function',
        ...(state === undefined ? {} : { state }),
      });
      this.#partial = { call, args: isRecord(args) ? { ...args } : {} };
    }
    if (this.#partial === null) return;
    addArguments(this.#partial.args, partialArgs);
    if (willContinue !== true) this.#endPartial(emit);
  }

  #endPartial(emit: Emit): void {
    if (this.#partial === null) return;
    const { call, args } = this.#partial;
    this.#partial = null;
    emit({ ...this.#of, type: 'call-arguments', call, text: JSON.stringify(args) });
    emit({ ...this.#of, type: 'call-end', call });
  }
}
