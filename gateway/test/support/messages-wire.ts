import type { GenerationEvent, GenerationRequest, TokenUsage } from '#canonical/index.ts';
import { messages, messagesCodec } from '#protocols/messages/index.ts';
import { readEvents } from '../recordings/tap-run.ts';
import { responseContext } from './messages-samples.ts';

const path = { operation: 'generate', model: null, stream: null } as const;

/** A body as the endpoint would hand it to the codec. */
export function decodeWire(body: unknown): GenerationRequest {
  const bytes = Buffer.from(JSON.stringify(body));
  return messagesCodec.decodeRequest(messages.readRequest(messages.openRequest(bytes, path)));
}

export function encodeEvents(
  events: Iterable<GenerationEvent>,
  usage: TokenUsage | null = null,
): string {
  const encoder = messagesCodec.createStreamEncoder(responseContext);
  let text = '';
  for (const event of events) text += encoder.push(event);
  return text + encoder.end(usage);
}

export function decodeFrames(text: string): GenerationEvent[] {
  const decoder = messagesCodec.createStreamDecoder();
  const events: GenerationEvent[] = [];
  const emit = (event: GenerationEvent) => void events.push(event);
  for (const event of readEvents([Buffer.from(text)])) decoder.push(event, emit);
  decoder.end(emit);
  return events;
}
