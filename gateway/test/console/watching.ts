import { expect } from 'vitest';
import type { Person } from './person.ts';

/** An event of the stream. */
export interface Event {
  readonly id?: string;
  readonly event?: string;
  readonly data: {
    readonly id?: string;
    readonly count?: number;
    readonly cost?: string;
    readonly all?: boolean;
  };
}

/** Watches until it is closed; every event is kept. */
export async function watchLive(
  url: string,
  { cookie }: Pick<Person, 'cookie'>,
  query = '',
  headers: Record<string, string> = {},
) {
  const stop = new AbortController();
  const response = await fetch(`${url}/admin/v1/usage/live${query}`, {
    headers: { cookie, ...headers },
    signal: stop.signal,
  });
  const events: Event[] = [];
  let text = '';
  const ended = (async () => {
    if (response.body === null) return;
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts.filter((each) => !each.startsWith(':'))) {
        const lines = part.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2));
        const fields = Object.fromEntries(lines) as Record<string, string>;
        events.push({ ...fields, data: JSON.parse(fields['data'] ?? '{}') as Event['data'] });
      }
    }
  })().catch(() => {});
  const has = (id: string) =>
    expect
      .poll(() => events.some((each) => each.event === 'finished' && each.data.id === id), {
        timeout: 20_000,
      })
      .toBe(true);
  return { response, events, ended, has, close: () => stop.abort() };
}

/** The ids of the requests that events of a kind name. */
export const idsOf = (events: readonly Event[], kind = 'finished') =>
  events.flatMap(({ event, data }) => (event === kind && data.id !== undefined ? [data.id] : []));
