import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { OpenedExchange } from '#observability/index.ts';
import type { ExchangeRecord } from '#usage/index.ts';
import { createFleetFeed, type FeedLink, type FeedTopic } from './fleet-feed.ts';
import type { LiveEvent } from './feed.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const second = 1_000;

/** Processes that hear each other at once. */
function createFleet(longest = 7_900) {
  const listeners = new Set<readonly [FeedTopic, (text: string) => void]>();
  const sent: { readonly topic: FeedTopic; readonly text: string }[] = [];
  let fails = false;
  const link: FeedLink = {
    longest,
    async send(topic, texts) {
      if (fails) throw new Error('the database is unreachable');
      for (const text of texts) {
        sent.push({ topic, text });
        for (const [of, hear] of listeners) if (of === topic) hear(text);
      }
    },
    listen(topic, onText, onReady) {
      const listener = [topic, onText] as const;
      listeners.add(listener);
      onReady?.();
      return { close: () => listeners.delete(listener) };
    },
  };
  return {
    sent,
    link,
    fail: (state: boolean) => (fails = state),
    join: (id: string) =>
      createFleetFeed({ epoch: 1, monotonic: () => performance.now(), link, id }),
    requests: () => sent.filter(({ topic }) => topic === 'requests'),
    say: (topic: FeedTopic, text: string) => link.send(topic, [text]),
  };
}

const record = (id: string, more: object = {}) =>
  ({ id, time: 1, attempts: [], ...more }) as unknown as ExchangeRecord;
const exchange = (id: string) =>
  ({
    model: 'demo-chat',
    stream: false,
    secret: 'sk-secret',
    input: {
      id,
      arrivedAt: 1,
      caller: { keyId: 'key', userId: 'user', teamId: null, secret: 'sk-secret' },
      protocol: 'chat',
      operation: 'generate',
      headers: { authorization: 'Bearer sk-secret', 'user-agent': 'probe' },
    },
  }) as unknown as OpenedExchange;

/** Watches, and keeps what was reported in short. */
function watch(feed: ReturnType<ReturnType<typeof createFleet>['join']>) {
  const seen: string[] = [];
  const leave = feed.watch((event: LiveEvent) => {
    if (event.kind === 'left') seen.push(`${event.count} more`);
    else if (event.kind === 'gone') seen.push(`${event.node} is gone`);
    else
      seen.push(
        `${event.kind} ${event.kind === 'started' ? event.exchange.input.id : event.record.id}`,
      );
  });
  return { seen, leave };
}

test('nothing is sent while nobody watches', () => {
  const fleet = createFleet();
  const [a] = [fleet.join('a'), fleet.join('b')];
  a.started(exchange('1'));
  a.finished(record('1'));
  vi.advanceTimersByTime(60 * second);
  expect(fleet.sent).toEqual([]);
});

test('what other processes do reaches the one that is watched, until half a minute after its last word', async () => {
  const fleet = createFleet();
  const [a, b] = [fleet.join('a'), fleet.join('b')];
  const { seen, leave } = watch(a);
  b.started(exchange('1'));
  b.finished(record('1'));
  await vi.advanceTimersByTimeAsync(250);
  a.finished(record('own'));
  expect(seen).toEqual(['started 1', 'finished 1', 'finished own']);
  expect(a.finishedCount).toBe(2);
  // Its own texts prove that texts arrive.
  expect([a.isWhole, b.isWhole]).toEqual([true, false]);

  // Renewed while it is watched, and for the minute in which a page may come back.
  await vi.advanceTimersByTimeAsync(100 * second);
  leave();
  await vi.advanceTimersByTimeAsync(59 * second);
  b.finished(record('2'));
  await vi.advanceTimersByTimeAsync(250);
  expect(a.last.map(({ record: { id } }) => id)).toEqual(['1', 'own', '2']);
  await vi.advanceTimersByTimeAsync(42 * second);
  const before = fleet.sent.length;
  b.finished(record('3'));
  await vi.advanceTimersByTimeAsync(60 * second);
  expect(fleet.sent).toHaveLength(before);
});

test('what a process does is shown there once, also while others watch', async () => {
  const fleet = createFleet();
  const [a, b] = [fleet.join('a'), fleet.join('b')];
  const [own, other] = [watch(a), watch(b)];
  a.started(exchange('1'));
  a.finished(record('1'));
  await vi.advanceTimersByTimeAsync(second);
  expect([own.seen, other.seen]).toEqual([
    ['started 1', 'finished 1'],
    ['started 1', 'finished 1'],
  ]);
});

test('a process that is not heard for half a minute is gone, once; one that is quiet is not', async () => {
  const fleet = createFleet();
  const [a, b] = [fleet.join('a'), fleet.join('b')];
  fleet.join('quiet');
  const { seen } = watch(a);
  b.started(exchange('1'));
  await vi.advanceTimersByTimeAsync(60 * second);
  expect(seen).toEqual(['started 1']);
  b.close();
  await vi.advanceTimersByTimeAsync(20 * second);
  expect(seen).toEqual(['started 1']);
  await vi.advanceTimersByTimeAsync(60 * second);
  expect(seen).toEqual(['started 1', 'b is gone']);
});

test('a busy process sends some of each turn, and how many more there were', async () => {
  const fleet = createFleet();
  const [a, b] = [fleet.join('a'), fleet.join('b')];
  const { seen } = watch(a);
  for (let at = 1; at <= 1_000; at += 1) b.finished(record(String(at)));
  await vi.advanceTimersByTimeAsync(250);
  expect(seen).toEqual([
    ...Array.from({ length: 12 }, (_, at) => `finished ${989 + at}`),
    '988 more',
  ]);
});

test('what could not be sent is counted once texts go again', async () => {
  const fleet = createFleet();
  const [a, b] = [fleet.join('a'), fleet.join('b')];
  const { seen } = watch(a);
  fleet.fail(true);
  b.finished(record('1'));
  await vi.advanceTimersByTimeAsync(250);
  fleet.fail(false);
  await vi.advanceTimersByTimeAsync(250);
  expect(seen).toEqual(['1 more']);
});

test('texts stay below what the link takes, and a request that is longer is counted', async () => {
  const fleet = createFleet(1_000);
  const [a, b] = [fleet.join('a'), fleet.join('b')];
  const { seen } = watch(a);
  for (const id of ['1', '2', '3']) b.finished(record(id, { model: 'ü'.repeat(200) }));
  b.finished(record('4', { model: 'ü'.repeat(600) }));
  await vi.advanceTimersByTimeAsync(250);
  expect(fleet.requests().length).toBeGreaterThan(1);
  for (const { text } of fleet.requests()) expect(Buffer.byteLength(text)).toBeLessThan(1_000);
  expect(seen.toSorted()).toEqual(['1 more', 'finished 1', 'finished 2', 'finished 3']);
});

test('neither secrets nor the texts of errors are sent', async () => {
  const fleet = createFleet();
  const [a, b] = [fleet.join('a'), fleet.join('b')];
  watch(a);
  b.started(exchange('1'));
  const attempts = [{ channel: 'sim', words: 'said by the upstream' }];
  const upstreamState = { ids: ['resp_secret'] };
  b.finished(record('1', { message: 'for the client', attempts, upstreamState }));
  await vi.advanceTimersByTimeAsync(250);
  const text = fleet
    .requests()
    .map((each) => each.text)
    .join('');
  expect(text).toContain('"channel":"sim"');
  expect(text).toContain('"user-agent":"probe"');
  expect(text).not.toMatch(/secret|said by|for the client/);
});

test('texts of other programs are passed over, and records of another version counted', async () => {
  const fleet = createFleet();
  const a = fleet.join('a');
  const { seen } = watch(a);
  await fleet.say('requests', 'no JSON');
  await fleet.say('requests', 'null');
  await fleet.say('requests', '{"from":"c"}');
  await fleet.say('requests', '{"from":"c","form":0,"events":[{"kind":"finished"}],"left":2}');
  expect(seen).toEqual(['3 more']);
});
