import { openBudget } from '#json/index.ts';
import type { GenerationEvent, GenerationRequest, GenerationResponse } from '#canonical/index.ts';
import { generateContent, generateContentCodec } from '#protocols/generate-content/index.ts';
import type { ResponseContext, EncodeTarget } from '#protocols/codec.ts';
import type { WireRequest } from '#protocols/index.ts';
import { readEvents } from '../recordings/tap-run.ts';
import { requestOf, user } from './canonical.ts';
import { traitsOf } from './upstream-traits.ts';

export type Json = Readonly<Record<string, unknown>>;

/** A body as the gateway's own checks hand it to the codec. */
export function wireRequest(
  json: unknown,
  model = 'gemini-3.5-flash',
  stream = false,
): WireRequest {
  const path = { operation: 'generate', model, stream } as const;
  return generateContent.readRequest(
    generateContent.openRequest(Buffer.from(JSON.stringify(json)), path),
  );
}

export function decode(json: unknown, model?: string): GenerationRequest {
  return generateContentCodec.decodeRequest(wireRequest(json, model));
}

export function target(model = 'gemini-3.5-flash', capabilities: string[] = []): EncodeTarget {
  return {
    model,
    traits: traitsOf('gemini', model),
    maxOutputTokens: null,
    capabilities: new Set(capabilities),
    echoReasoning: null,
    budget: openBudget(1_048_576),
  };
}

/** A request that asks for nothing but what is given. */
export function request(given: Partial<GenerationRequest>): GenerationRequest {
  return requestOf({ model: 'm', turns: [user('hi')], wantsUsage: true, ...given });
}

export function responseContext(given: Partial<GenerationRequest> = {}): ResponseContext {
  return {
    requestId: 'req_0123456789abcdefghijklmn',
    model: 'my-model',
    createdAt: 1_700_000_000,
    request: request(given),
    inputTokens: 7,
  };
}

export function decodeResponse(json: unknown): GenerationResponse {
  return generateContentCodec.decodeResponse(json as Json);
}

/** What the codec makes of an event stream. */
export function decodeStream(text: string): GenerationEvent[] {
  const decoder = generateContentCodec.createStreamDecoder();
  const found: GenerationEvent[] = [];
  const emit = (event: GenerationEvent) => void found.push(event);
  for (const event of readEvents([Buffer.from(text)])) decoder.push(event, emit);
  decoder.end(emit);
  return found;
}

export function chunks(...responses: readonly unknown[]): string {
  return responses.map((response) => `data: ${JSON.stringify(response)}\n\n`).join('');
}

/** A chunk of the first candidate. */
export function chunk(parts: readonly unknown[], finishReason?: string): Json {
  return { candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }] };
}

export function encodeStream(
  events: readonly GenerationEvent[],
  context: ResponseContext = responseContext(),
): string {
  const encoder = generateContentCodec.createStreamEncoder(context);
  return events.map((event) => encoder.push(event)).join('') + encoder.end(null);
}
