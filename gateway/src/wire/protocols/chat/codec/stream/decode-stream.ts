import type { GenerationEvent, Block, NativeState } from '#canonical/index.ts';
import type { StreamDecoder } from '../../../codec.ts';
import { isDone, parseRecord } from '../../../shared/text/events.ts';
import type { StreamEvent } from '../../../protocol.ts';
import { isRecord, type JsonRecord, recordAt } from '../../../shared/values.ts';
import { moved, readCitations, readLogprobs } from '../response/response-details.ts';
import {
  joinAudio,
  readResponseContent,
  readAudio,
  readImages,
} from '../response/response-parts.ts';
import { CallSlots } from './call-slots.ts';
import { readFinish } from '../response/finish.ts';
import {
  contentId,
  contentState,
  detailsOf,
  detailsState,
  hasReasoningContent,
  holdsReasoning,
  isOpaque,
  mergeDetail,
  readOwnDetail,
  reasoningText,
} from '../reasoning.ts';

/** Decodes chunks, with the liberties that compatible servers take. The tap judges events that are not chunks. */
export class ChatStreamDecoder implements StreamDecoder {
  readonly #choices: ChoiceDecoder[] = [];
  #isEnded = false;

  push(event: StreamEvent, emit: (event: GenerationEvent) => void): void {
    const { data } = event;
    if (data === null || this.#isEnded) return;
    if (isDone(data)) {
      this.end(emit);
      return;
    }
    const choices = parseRecord(data)?.['choices'];
    if (!Array.isArray(choices)) return;
    for (const choice of choices as unknown[]) {
      if (isRecord(choice)) this.#decoderOf(choice['index']).push(choice, emit);
    }
  }

  end(emit: (event: GenerationEvent) => void): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    // The list has holes for choices that never came.
    for (const choice of Object.values(this.#choices)) choice.end(emit);
  }

  #decoderOf(index: unknown): ChoiceDecoder {
    const at = typeof index === 'number' && Number.isInteger(index) && index > 0 ? index : 0;
    const foundChoice = this.#choices[at];
    if (foundChoice !== undefined) return foundChoice;
    const created = new ChoiceDecoder(at);
    this.#choices[at] = created;
    return created;
  }
}

type Emit = (event: GenerationEvent) => void;

/** One of the choices in a stream. */
class ChoiceDecoder {
  readonly #index: number;
  /** Null before the first call. */
  #calls: CallSlots | null = null;
  /** The block that receives deltas. */
  #openBlock: 'text' | 'refusal' | 'reasoning' | null = null;
  /** Reasoning details that their maker may want back. They go out with their block. */
  #details: Record<string, unknown>[] = [];
  /** The open reasoning came as `reasoning_content`. */
  #isContent = false;
  #contentLength = 0;
  #textStart = 0;
  #hasText = false;
  #hasRefusal = false;
  /** The speech so far. It becomes a block when it is complete. */
  #audio: JsonRecord | null = null;
  #reason: string | null = null;
  #stopReason: unknown = null;
  #isFinished = false;

  constructor(index: number) {
    this.#index = index;
  }

  push(choice: JsonRecord, emit: Emit): void {
    const delta = recordAt(choice, 'delta');
    const states = holdsReasoning(delta) ? this.#reasoning(delta, emit) : null;
    const { content, refusal } = delta;
    if (typeof content === 'string') {
      if (content !== '') this.#text(content, choice['logprobs'], emit);
    } else if (content !== null && content !== undefined) {
      for (const block of readResponseContent(content)) this.#block(block, emit);
    }
    if (typeof refusal === 'string' && refusal !== '') this.#refusal(refusal, emit);
    if (delta['images'] !== undefined) {
      for (const image of readImages(delta['images'])) this.#block(image, emit);
    }
    if (isRecord(delta['audio'])) this.#audio = joinAudio(this.#audio, delta['audio']);
    if (delta['tool_calls'] !== undefined || delta['function_call'] !== undefined) {
      this.#toolCalls(delta, states, emit);
    }
    if (delta['annotations'] !== undefined) {
      for (const citation of readCitations(delta['annotations'])) {
        this.#emit({ type: 'citation', citation: moved(citation, -this.#textStart) }, emit);
      }
    }
    const { finish_reason: reason, stop_reason: stopReason } = choice;
    // Some servers repeat the reason. The first one ended the text.
    if (this.#reason === null && typeof reason === 'string' && reason !== '') {
      this.#reason = reason;
      this.#stopReason = stopReason;
      // Without content, the reason alone makes it a response. It must be known before the stream ends.
      const holdsSome = this.#hasText || this.#hasRefusal || this.#audio !== null;
      if (!holdsSome && !this.#hasCalls) this.#finish(emit);
    }
  }

  /** Some servers continue with calls after the reason, so the finish comes last. */
  end(emit: Emit): void {
    this.#endReasoning(emit);
    const audio = this.#audio === null ? null : readAudio(this.#audio);
    if (audio !== null) this.#block(audio, emit);
    this.#calls?.end(emit);
    this.#finish(emit);
  }

  get #hasCalls(): boolean {
    return this.#calls?.some === true;
  }

  #finish(emit: Emit): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    const finish = readFinish(this.#reason, this.#stopReason, {
      calls: this.#hasCalls,
      text: this.#hasText,
      refusal: this.#hasRefusal,
    });
    this.#emit({ type: 'finish', finish }, emit);
  }

  /** @returns the state of calls that begin with this delta */
  #reasoning(delta: JsonRecord, emit: Emit): ReadonlyMap<string, NativeState> | null {
    const details = detailsOf(delta);
    const text = reasoningText(delta, details);
    if (text !== '') {
      this.#openBlock = 'reasoning';
      this.#isContent = hasReasoningContent(delta);
      this.#emit({ type: 'reasoning', text }, emit);
    }
    if (details.length === 0) return null;
    let states: Map<string, NativeState> | null = null;
    for (const detail of details) {
      const own = readOwnDetail(detail);
      if (own === null) mergeDetail(this.#details, detail);
      else if (own.id === null || own.id === contentId) this.#ownState(own.state, own.id, emit);
      else states = (states ?? new Map<string, NativeState>()).set(own.id, own.state);
    }
    return states;
  }

  #ownState(state: NativeState, id: string | null, emit: Emit): void {
    const place = id === contentId ? 'text' : 'reasoning';
    if (this.#openBlock !== null && this.#openBlock !== place)
      this.#emit({ type: 'block-end' }, emit);
    this.#emit({ type: 'state', state }, emit);
    this.#emit({ type: 'block-end' }, emit);
    this.#openBlock = null;
  }

  #text(text: string, logprobs: unknown, emit: Emit): void {
    this.#begin('text', emit);
    this.#hasText = true;
    this.#contentLength += text.length;
    const tokens = isRecord(logprobs) ? readLogprobs(logprobs) : undefined;
    this.#emit(
      tokens === undefined ? { type: 'text', text } : { type: 'text', text, logprobs: tokens },
      emit,
    );
  }

  #refusal(text: string, emit: Emit): void {
    this.#begin('refusal', emit);
    this.#hasRefusal = true;
    this.#emit({ type: 'refusal', text }, emit);
  }

  #block(block: Block, emit: Emit): void {
    switch (block.type) {
      case 'text':
        this.#text(block.text, null, emit);
        return;
      case 'reasoning':
        this.#openBlock = 'reasoning';
        this.#emit({ type: 'reasoning', text: block.text }, emit);
        return;
      case 'refusal':
        this.#refusal(block.text, emit);
        return;
      default:
        this.#begin(null, emit);
        this.#emit({ type: 'block', block }, emit);
    }
  }

  #toolCalls(delta: JsonRecord, states: ReadonlyMap<string, NativeState> | null, emit: Emit): void {
    const { tool_calls: entries, function_call: single } = delta;
    const calls = (this.#calls ??= new CallSlots(this.#index));
    if (Array.isArray(entries) && entries.length > 0) {
      this.#endReasoning(emit);
      for (const entry of entries as unknown[]) {
        if (isRecord(entry) && calls.push(entry, states, emit)) this.#openBlock = null;
      }
    } else if (isRecord(single) && (single['name'] || single['arguments'])) {
      this.#endReasoning(emit);
      if (calls.push({ index: 0, function: single }, null, emit)) this.#openBlock = null;
    }
  }

  #begin(nextBlock: 'text' | 'refusal' | null, emit: Emit): void {
    this.#endReasoning(emit);
    if (nextBlock === 'text' && this.#openBlock !== 'text') this.#textStart = this.#contentLength;
    this.#openBlock = nextBlock;
  }

  /** Gives the state of the open reasoning. Drops details that are text alone, since the text has gone out. */
  #endReasoning(emit: Emit): void {
    if (this.#details.length === 0 && !this.#isContent) return;
    const details = this.#details;
    const isContent = this.#isContent && this.#openBlock === 'reasoning';
    this.#details = [];
    this.#isContent = false;
    const state = details.some(isOpaque) ? detailsState(details) : isContent ? contentState : null;
    if (state !== null) this.#ownState(state, null, emit);
  }

  #emit(event: GenerationEvent, emit: Emit): void {
    emit(this.#index === 0 ? event : { ...event, choice: this.#index });
  }
}
