import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { absence, recordings } from '../recordings/recordings.ts';
import { parseEvents } from './client-events.ts';
import { dataOf, expectedEvents, isUsageChunk } from './expected-events.ts';
import { failsSomehow } from './failures.ts';
import { type RecordedGateway, startRecordedGateway } from './recorded-gateway.ts';
import { asksForUsage, isStream } from './recorded-request.ts';

const streams = recordings.filter(isStream).filter((recording) => !failsSomehow(recording));
const chats = streams.filter(({ protocol }) => protocol === 'chat');
const generated = streams.filter(({ protocol }) => protocol === 'generate-content');

describe.skipIf(absence !== null)(`recorded streams through the gateway ${absence ?? ''}`, () => {
  let recorded: RecordedGateway;
  beforeAll(async () => {
    recorded = await startRecordedGateway();
  });
  afterAll(() => recorded.gateway.close());

  it('are complete', () => {
    expect(streams).toHaveLength(208);
  });

  it.each(streams)('$id arrives event by event', async (recording) => {
    const { response, text } = await recorded.replay(recording);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(parseEvents(text)).toEqual(expectedEvents(recording, asksForUsage(recording)));
  });

  it.each(chats)('$id shows its usage chunk only to clients that ask', async (recording) => {
    for (const asked of [true, false]) {
      const stream_options = asked ? { include_usage: true } : null;
      const { text } = await recorded.replay(recording, { body: { stream_options } });
      expect(parseEvents(text)).toEqual(expectedEvents(recording, asked));
    }
  });

  it('with a usage chunk are among the chats', () => {
    const withUsage = chats.filter(({ sse }) => parseEvents(sse).some(isUsageChunk));
    expect(withUsage.length).toBe(18);
  });

  it.each(generated)(
    '$id is one JSON array for clients that do not ask for events',
    async (recording) => {
      const path = (given: string) => given.replace('?alt=sse', '');
      const { response, text } = await recorded.replay(recording, { path });
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
      const expected = expectedEvents(recording, false).map(dataOf);
      expect(JSON.parse(text)).toEqual(expected);
    },
  );

  it('log no error', () => {
    expect(recorded.gateway.errors).toEqual([]);
  });
});
