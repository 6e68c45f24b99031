import type { TextProtocolName } from '#canonical/index.ts';
import { chatFacts } from './chat/facts.ts';
import type { TextFacts } from './facts.ts';
import { generateContentFacts } from './generate-content/facts.ts';
import { messagesFacts } from './messages/facts.ts';
import { responsesFacts } from './responses/facts.ts';

/** What each protocol states of itself. */
export const textFacts: Readonly<Record<TextProtocolName, TextFacts>> = Object.freeze({
  chat: chatFacts,
  responses: responsesFacts,
  messages: messagesFacts,
  'generate-content': generateContentFacts,
});
