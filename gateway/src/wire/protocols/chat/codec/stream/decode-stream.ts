import type { GenerationEvent } from '#canonical/index.ts';
import type { StreamDecoder } from '../../../codec.ts';
import { isDone, parseRecord } from '../../../shared/text/events.ts';
import type { StreamEvent } from '../../../protocol.ts';
import { isRecord } from '../../../shared/values.ts';
import { ChoiceDecoder } from './choice-decoder.ts';

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
    const found = this.#choices[at];
    if (found !== undefined) return found;
    const created = new ChoiceDecoder(at);
    this.#choices[at] = created;
    return created;
  }
}
