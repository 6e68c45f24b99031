import type { Say } from '../words/index.ts';

/** What a client is called: what the gateway does not know has a word in each language. */
export function clientName(client: string, say: Say): string {
  return client === 'other' ? say('requests.otherClient') : client;
}
