import { type Recording } from '../recordings/recordings.ts';
import { type ClientEvent, parseEvents } from './client-events.ts';

/** Chat's marker of the end; some servers send it in other protocols. */
const done = '[DONE]';

/** Fixtures in which the source joined the replies of several requests; what follows the first is another response. */
const joined: ReadonlySet<string> = new Set([
  'messages-anthropic-stream-1331c285',
  'messages-anthropic-stream-2eff54e0',
  'messages-anthropic-stream-d765a634',
]);

/** What a client must be given of a recorded stream: everything, but for the declared differences. */
export function expectedEvents(recording: Recording & { sse: string }, usageAsked: boolean) {
  const events = parseEvents(recording.sse);
  switch (recording.protocol) {
    case 'chat': {
      const kept = usageAsked ? events : events.filter((event) => !isUsageChunk(event));
      const isEnded = kept.some((event) => dataOf(event) === done);
      return isEnded ? kept : [...kept, { name: null, data: done }];
    }
    case 'responses':
      // Nothing belongs to a response after its terminal event; OpenRouter adds chat's marker.
      return events.filter((event) => dataOf(event) !== done);
    case 'messages': {
      if (!joined.has(recording.id)) return events;
      const end = events.findIndex((event) => 'name' in event && event.name === 'message_stop');
      return events.slice(0, end + 1);
    }
    case 'generate-content':
      // The vendor's own command line client dies on comments.
      return events.filter((event) => !('comment' in event));
  }
}

/** The one chunk that carries usage and no choices. */
export function isUsageChunk(event: ClientEvent): boolean {
  const data = dataOf(event) as { choices?: unknown; usage?: unknown } | undefined;
  if (typeof data !== 'object' || data === null) return false;
  const { choices, usage } = data;
  return Array.isArray(choices) && choices.length === 0 && usage !== undefined && usage !== null;
}

export function dataOf(event: ClientEvent): unknown {
  return 'data' in event ? event.data : undefined;
}
