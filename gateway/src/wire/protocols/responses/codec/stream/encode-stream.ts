import type { Finish, GenerationEvent, TokenUsage } from '#canonical/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { ResponseContext, StreamEncoder } from '../../../codec.ts';
import {
  type ResponseIds,
  createResponseIds,
  describeResponse,
  encodeUsage,
  endingOf,
} from '../response/describe-response.ts';
import { failureFrame } from '../../errors.ts';
import { FrameWriter } from './frame-writer.ts';
import { OutputWriter } from './output-writer.ts';

/**
 * Writes the events of one response: the announcement, the items one after another, and the whole response at the end.
 * `OutputWriter` orders the items.
 */
export class ResponsesStreamEncoder implements StreamEncoder {
  readonly #context: ResponseContext;
  readonly #ids: ResponseIds;
  readonly #frames = new FrameWriter();
  readonly #output: OutputWriter;
  /** JSON text of the response's constant members, without braces. Null before the announcement. */
  #description: string | null = null;
  #finish: Finish = { reason: 'end' };
  #closed = false;

  constructor(context: ResponseContext) {
    this.#context = context;
    this.#ids = createResponseIds(context);
    this.#output = new OutputWriter(this.#frames, this.#ids);
  }

  push(event: GenerationEvent): string {
    // The protocol has room for the first choice only.
    if (this.#closed || (event.choice ?? 0) !== 0) return '';
    if (event.type === 'finish') {
      this.#finish = event.finish;
      return '';
    }
    if (this.#description !== null) return this.#output.push(event);
    if (event.type === 'block-end' || event.type === 'call-end') return '';
    return this.#announce() + this.#output.push(event);
  }

  end(usage: TokenUsage | null): string {
    if (this.#closed) return '';
    this.#closed = true;
    const announced = this.#description === null ? this.#announce() : '';
    const { status, reason } = endingOf(this.#finish.reason);
    const rest = this.#output.end(status);
    const response = this.#response(status, reason, JSON.stringify(encodeUsage(usage)));
    return announced + rest + this.#frames.write(`response.${status}`, `"response":${response}`);
  }

  fail(error: GatewayError): string {
    if (this.#closed) return '';
    this.#closed = true;
    const { createdAt, model } = this.#context;
    const begun = this.#description === null ? null : { id: this.#ids.response, createdAt, model };
    return failureFrame(error, begun, this.#frames.sequenceNumber);
  }

  #announce(): string {
    this.#description = JSON.stringify(describeResponse(this.#context)).slice(1, -1);
    const members = `"response":${this.#response('in_progress', null, 'null')}`;
    return (
      this.#frames.write('response.created', members) +
      this.#frames.write('response.in_progress', members)
    );
  }

  #response(status: string, reason: string | null, usage: string): string {
    const details = reason === null ? 'null' : `{"reason":"${reason}"}`;
    const output = this.#output.items.join(',');
    return `{${this.#description},"status":"${status}","incomplete_details":${details},"output":[${output}],"usage":${usage}}`;
  }
}
