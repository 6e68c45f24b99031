import type { GenerationEvent } from '#canonical/index.ts';
import type { StreamDecoder } from '../../../codec.ts';
import { parseRecord } from '../../../shared/text/events.ts';
import type { StreamEvent } from '../../../protocol.ts';
import { isRecord, type JsonRecord, recordAt } from '../../../shared/values.ts';
import { decodeFinish } from '../response/finish.ts';
import { openImplied, openOutput, type OpenOutput, type OutputState } from './open-output.ts';

type Emit = (event: GenerationEvent) => void;

/** Decodes one message. Tolerates blocks that overlap, or lack their start or stop. */
export class MessagesStreamDecoder implements StreamDecoder {
  readonly #openOutputs = new Map<unknown, OpenOutput>();
  readonly #state: OutputState = { calls: 0, isEmpty: true };
  /** The message has ended. Further events are ignored. */
  #ended = false;

  push({ data, name }: StreamEvent, emit: Emit): void {
    if (data === null || this.#ended) return;
    const event = parseRecord(data, passedOn);
    if (event === null) return;
    switch (event['type'] ?? name) {
      case 'content_block_delta':
        this.#delta(event, emit);
        break;
      case 'content_block_start':
        this.#start(event['index'], recordAt(event, 'content_block'), emit);
        break;
      case 'content_block_stop':
        this.#stop(event['index'], emit);
        break;
      case 'message_delta':
        this.#finish(recordAt(event, 'delta'), emit);
        break;
      case 'message_stop':
        this.end(emit);
        break;
      default:
        break;
    }
  }

  end(emit: Emit): void {
    this.#closeAll(emit);
    this.#ended = true;
  }

  #start(index: unknown, block: JsonRecord, emit: Emit): void {
    // A second block at the same index: the stop of the first is missing.
    this.#stop(index, emit);
    this.#openOutputs.set(index, openOutput(block, this.#state, emit));
  }

  #delta(event: JsonRecord, emit: Emit): void {
    const { index, delta } = event;
    if (!isRecord(delta)) return;
    let block = this.#openOutputs.get(index);
    if (block === undefined) {
      const implied = openImplied(delta, this.#state, emit);
      if (implied === null) return;
      block = implied;
      this.#openOutputs.set(index, block);
    }
    block.delta(delta, emit);
  }

  #stop(index: unknown, emit: Emit): void {
    const block = this.#openOutputs.get(index);
    if (block === undefined) return;
    this.#openOutputs.delete(index);
    block.end(emit);
  }

  #closeAll(emit: Emit): void {
    for (const block of this.#openOutputs.values()) block.end(emit);
    this.#openOutputs.clear();
  }

  #finish(delta: JsonRecord, emit: Emit): void {
    if (delta['stop_reason'] === undefined || delta['stop_reason'] === null) return;
    this.#closeAll(emit);
    const { calls, isEmpty } = this.#state;
    const outcome = { hasCalls: calls > 0, isEmpty };
    const finish = decodeFinish(delta['stop_reason'], delta['stop_sequence'], outcome);
    if (finish !== null) emit({ type: 'finish', finish });
  }
}

/** Members that are passed on unread, see `Codec.passedOn`. */
export const passedOn: ReadonlySet<string> = new Set(['input', 'input_schema', 'schema']);
