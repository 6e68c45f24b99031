import { saysNothing, type GenerationResponse } from '#canonical/index.ts';
import {
  UnreadableResponse,
  isRecord,
  parsePassingOn,
  type ModelEcho,
  type Protocol,
  type StreamContext,
  type StreamTap,
  type WireResponse,
} from '#protocols/index.ts';
import { passResponse } from './response-blocks.ts';
import type { ResponsePasses } from './response-context.ts';
import { ConvertedTap } from './converted-tap.ts';

/** Reads an upstream's response in its protocol and produces the client's; has the interface that attempts know. */
export type ResponseReader = Pick<Protocol, 'readResponse' | 'createStreamTap'>;

/** Turns the upstream's response into the client's and records the losses. */
export function createConvertedReader(upstream: Protocol, passes: ResponsePasses): ResponseReader {
  return {
    readResponse(body: Buffer, echo: ModelEcho): WireResponse {
      const { usage } = upstream.readResponse(body, unechoed(echo));
      const json = parsePassingOn(body, passes.upstream.passedOn);
      if (!isRecord(json)) throw new UnreadableResponse('the response is not a JSON object');
      const response = passes.upstream.decodeResponse(json);
      if (isEmpty(response)) throw new UnreadableResponse('the response is empty', null, usage);
      const passed = passResponse(passes, response);
      const told = usage === null || saysNothing(usage) ? null : usage.tokens;
      const converted = passes.client.encodeResponse(passed, told, passes.context);
      return { body: Buffer.from(JSON.stringify(converted)), usage };
    },
    createStreamTap(context: StreamContext): StreamTap {
      return new ConvertedTap(
        upstream.createStreamTap({ ...unechoed(context), usageInjected: false }),
        passes,
      );
    },
  };
}

/** Without the model echo, because the client never sees this form. */
function unechoed({ upstreamModel }: ModelEcho): ModelEcho {
  return { clientModel: upstreamModel, upstreamModel };
}

/** Whether it has neither content nor a reason for being empty. */
function isEmpty({ candidates }: GenerationResponse): boolean {
  return candidates.every(
    ({ blocks, finish }) =>
      finish.reason === 'other' &&
      blocks.every(
        (block) => (block.type === 'text' || block.type === 'reasoning') && block.text === '',
      ),
  );
}
