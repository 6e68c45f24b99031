import type { ReportedUsage } from '../../canonical/index.ts';
import { echoedName } from '../echo.ts';
import { failureObject } from '../error-object.ts';
import { isDone, parseRecord, readEvent } from '../event-view.ts';
import { withEdits } from '../frames.ts';
import { readInclusiveUsage } from '../inclusive-usage.ts';
import { type StreamContext, type StreamEvent, type StreamTap, verdict } from '../protocol.ts';
import { recordAt } from '../values.ts';
import { ResponseEventView } from './event-view.ts';

const view = new ResponseEventView();

/** What a failure event made by the gateway repeats of the response it ends. */
export interface BegunResponse {
  readonly id: string;
  readonly createdAt: number;
  readonly model: string;
}

export class ResponsesStreamTap implements StreamTap {
  replacement: Buffer | null = null;
  usage: ReportedUsage | null = null;
  failure: unknown = null;
  outputBytes = 0;
  finished = false;
  /** Null until the upstream has announced the response. */
  begun: BegunResponse | null = null;
  lastSequenceNumber = -1;
  readonly #clientModel: string;
  readonly #echo: Buffer | null;

  constructor(context: StreamContext) {
    this.#clientModel = context.clientModel;
    this.#echo = echoedName(context);
  }

  get closed(): boolean {
    return this.finished;
  }

  inspect(event: StreamEvent): number {
    const { data } = event;
    // Some servers add chat's `[DONE]`.
    if (data === null || data.length === 0 || isDone(data)) return verdict.forward;
    view.wantsType = event.name === null;
    const read = readEvent(view, data);
    const type = event.name ?? view.type ?? '';
    if (read === null || view.hasError || type === 'error' || type === 'response.failed') {
      return this.#fail(data);
    }
    if (view.sequenceNumber >= 0) this.lastSequenceNumber = view.sequenceNumber;
    this.outputBytes += view.outputBytes;
    this.#noteResponse();

    let result = this.#verdictOf(type);
    if (this.#echo !== null && view.modelStart >= 0) {
      this.replacement = withEdits(event, read, [
        { start: view.modelStart, end: view.modelEnd, bytes: this.#echo },
      ]);
      result |= verdict.replace;
    }
    return result;
  }

  completion(): string {
    return '';
  }

  #verdictOf(type: string): number {
    if (type.endsWith('.delta')) return verdict.content;
    switch (type) {
      case 'response.completed':
      case 'response.incomplete':
        this.finished = true;
        this.usage = readInclusiveUsage(view.usage) ?? this.usage;
        return verdict.terminal | verdict.content;
      case 'response.output_item.done':
      case 'response.image_generation_call.partial_image':
        return verdict.content;
      default:
        return verdict.forward;
    }
  }

  #noteResponse(): void {
    if (this.begun !== null || typeof view.id !== 'string') return;
    const createdAt = typeof view.createdAt === 'number' ? view.createdAt : 0;
    this.begun = { id: view.id, createdAt, model: this.#clientModel };
  }

  /** `response.failed` has the error in its response, `error` events have it flat or under `error`. */
  #fail(data: Buffer): number {
    const value = parseRecord(data);
    if (value !== null) {
      this.usage = readInclusiveUsage(recordAt(value, 'response')['usage']) ?? this.usage;
      const { type: _, sequence_number: __, ...flat } = value;
      this.failure = failureObject(recordAt(value, 'response')['error'] ?? value['error'] ?? flat);
    } else this.failure = failureObject(null);
    return verdict.failed;
  }
}
