import { openBudget } from '#json/index.ts';
import type { Candidate, GenerationEvent, GenerationRequest } from '#canonical/index.ts';
import type { Encoded, EncodeTarget } from '#protocols/codec.ts';
import { responses, responsesCodec as codec } from '#protocols/responses/index.ts';
import type { JsonRecord } from '#protocols/shared/values.ts';
import { readEvents } from '../recordings/tap-run.ts';
import { collectEvents } from './collect-events.ts';
import { responseContext } from './responses-samples.ts';
import { traitsOf } from './upstream-traits.ts';

/** The codec, fed with what stands on the wire. */

export const target: EncodeTarget = {
  model: 'gpt-5.6',
  traits: { ...traitsOf('openai', 'gpt-5.6'), efforts: traitsOf('openai', 'any').efforts },
  maxOutputTokens: null,
  capabilities: new Set(),
  echoReasoning: null,
  budget: openBudget(1_048_576),
};

export function decodeBody(json: unknown): GenerationRequest {
  const path = { operation: 'generate', model: null, stream: null } as const;
  const opened = responses.openRequest(Buffer.from(JSON.stringify(json)), path);
  return codec.decodeRequest(responses.readRequest(opened));
}

export function encodeBody(
  request: GenerationRequest,
  changes: Partial<EncodeTarget> = {},
): Encoded<JsonRecord> {
  return codec.encodeRequest(request, { ...target, ...changes });
}

/** The whole stream that these events become. */
export function encodeEvents(
  events: readonly GenerationEvent[],
  context = responseContext,
): string {
  const encoder = codec.createStreamEncoder(context);
  return events.map((event) => encoder.push(event)).join('') + encoder.end(null);
}

export function decodeEvents(text: string): GenerationEvent[] {
  const decoder = codec.createStreamDecoder();
  const events: GenerationEvent[] = [];
  const emit = (event: GenerationEvent): void => void events.push(event);
  for (const event of readEvents([Buffer.from(text)])) decoder.push(event, emit);
  decoder.end(emit);
  return events;
}

export function decodeStream(text: string): Candidate[] {
  return collectEvents(decodeEvents(text));
}

/** Upstream events as text, numbered. */
export function upstream(...events: readonly JsonRecord[]): string {
  return events
    .map((event, sequence_number) => {
      const data = JSON.stringify({ sequence_number, ...event });
      return `event: ${String(event['type'])}\ndata: ${data}\n\n`;
    })
    .join('');
}
