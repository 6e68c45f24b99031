import type { ProtocolName } from '../gateway.ts';
import type { SdkClient } from './ask.ts';
import { chat } from './chat.ts';
import { generateContent } from './generate-content.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';

export type { Ask, SdkResponse, SdkCall } from './ask.ts';

/** The vendors' own SDKs by their protocol, so that what they cannot read fails. */
export const sdks: Readonly<Record<ProtocolName, SdkClient>> = {
  chat,
  responses,
  messages,
  'generate-content': generateContent,
};

/** The finish that stands for "ended" and for "wants its tools" with each client. */
export const finishes: Readonly<
  Record<ProtocolName, { readonly end: string; readonly tools: string }>
> = {
  chat: { end: 'stop', tools: 'tool_calls' },
  responses: { end: 'completed', tools: 'completed' },
  messages: { end: 'end_turn', tools: 'tool_use' },
  'generate-content': { end: 'STOP', tools: 'STOP' },
};
