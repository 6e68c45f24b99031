import type { FeedLink, FeedTopic } from '#console-api/index.ts';
import { notify, type OpenDatabase } from '#database/index.ts';

const channels: Readonly<Record<FeedTopic, string>> = {
  watching: 'sluice_watching',
  requests: 'sluice_requests',
};

/** How this process reaches the others that share its database; null: there are none. */
export function createFeedLink(database: Pick<OpenDatabase, 'kysely' | 'listen'>): FeedLink | null {
  const { listen } = database;
  if (listen === null) return null;
  return {
    // PostgreSQL takes less than 8,000 bytes.
    longest: 7_900,
    send: (topic, texts) => notify(database.kysely, channels[topic], texts),
    listen(topic, onText, onReady) {
      const listening = listen([channels[topic]], (text) => {
        if (text !== null) onText(text);
        else if (listening.works) onReady?.();
      });
      return listening;
    },
  };
}
