import { sql } from 'kysely';
import type { FeedLink, FeedTopic } from '#console-api/index.ts';
import type { OpenDatabase } from '#database/index.ts';

const channels: Readonly<Record<FeedTopic, string>> = {
  watching: 'sluice_watching',
  requests: 'sluice_requests',
};

/** How this process reaches the others that share its database; null: there are none. */
export function createFeedLink({
  kysely,
  listen,
}: Pick<OpenDatabase, 'kysely' | 'listen'>): FeedLink | null {
  if (listen === null) return null;
  return {
    // PostgreSQL takes less than 8,000 bytes.
    longest: 7_900,
    async send(topic, texts) {
      // Those who notify commit one after the other: nobody waits there until this is on disk.
      await sql`
        select set_config('synchronous_commit', 'off', true), pg_notify(${channels[topic]}, text)
        from unnest(${texts}::text[]) as text`.execute(kysely);
    },
    listen(topic, onText, onReady) {
      const listening = listen([channels[topic]], (text) => {
        if (text !== null) onText(text);
        else if (listening.works) onReady?.();
      });
      return listening;
    },
  };
}
