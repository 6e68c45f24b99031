import type { GenerationEvent, TokenUsage } from '#canonical/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { ResponseContext, StreamEncoder } from '../../../codec.ts';
import { encodeStreamErrorObject } from '../../../shared/text/error-object.ts';
import { frame } from '../../../shared/text/events.ts';
import { writeUsage } from '../response/response-details.ts';
import { responseId } from '../response/response-parts.ts';
import { ChoiceEncoder, type ChunkFrame } from './choice-encoder.ts';

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
