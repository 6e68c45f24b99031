import type { GenerationRequest } from '#canonical/index.ts';
import { openBudget } from '#json/index.ts';
import { chat, chatCodec } from '#protocols/chat/index.ts';
import type { EncodeTarget } from '#protocols/codec.ts';
import { traitsOf } from './upstream-traits.ts';

const path = { operation: 'generate', model: null, stream: null } as const;
export const openai: EncodeTarget = {
  model: 'up',
  traits: traitsOf('openai', 'up'),
  maxOutputTokens: null,
  capabilities: new Set(),
  echoReasoning: 'allow',
  budget: openBudget(1_048_576),
};
export const compatible: EncodeTarget = {
  ...openai,
  traits: traitsOf('openai-compatible', 'up'),
  echoReasoning: null,
};

export function decode(json: object): GenerationRequest {
  const body = Buffer.from(JSON.stringify({ model: 'm', messages: [], ...json }));
  return chatCodec.decodeRequest(chat.readRequest(chat.openRequest(body, path)));
}

export const encode = (request: GenerationRequest, target = openai) =>
  chatCodec.encodeRequest(request, target);

export const decodeMessages = (...messages: readonly object[]) => decode({ messages });

/** What `act` throws; null if it returns. */
export function errorOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return null;
}
