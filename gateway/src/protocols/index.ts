import type { TextProtocolName } from '../canonical/index.ts';
import { chat } from './chat/index.ts';
import { generateContent } from './generate-content/index.ts';
import { messages } from './messages/index.ts';
import type { Protocol } from './protocol.ts';
import { responses } from './responses/index.ts';

export * from './codec.ts';
export * from './protocol.ts';
export { estimateInputTokens, estimateOutputTokens, estimateTokens } from './token-estimate.ts';
export { isRecord, type JsonRecord } from './values.ts';

/** The wire formats of the text endpoints. */
export const textProtocols: Readonly<Record<TextProtocolName, Protocol>> = Object.freeze({
  chat,
  responses,
  messages,
  'generate-content': generateContent,
});
