import { describe, expect, test } from 'vitest';
import type { Route } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import { textProtocols } from '#protocols/index.ts';
import { createChannelHealth } from '#routing/index.ts';
import type { UpstreamListener } from '#upstream/index.ts';
import type { TextInput, TextParts } from '../input.ts';
import type { PreparedText } from '../prepared.ts';
import { createUpstreamCounting } from './upstream-count.ts';

const fault = { kind: 'failover', as: 'abnormal', blame: 'channel' } as const;

const routeOf = (id: string, upstreamModel = 'up') =>
  ({
    channel: {
      id,
      name: id,
      baseUrl: 'http://upstream.test',
      provider: 'anthropic',
      protocols: ['messages'],
      credentials: ['secret'],
      headers: {},
      timeouts: {},
    },
    upstreamModel,
  }) as unknown as Route;

/** Counters that answer what they are told to, at a time that stands still. */
function open(answer: (asked: number) => readonly [status: number, body: string] | 'silence') {
  const said: string[] = [];
  const health = createChannelHealth(({ message }) => said.push(message));
  const time = { now: 0 };
  const sent: string[] = [];
  const watched = new Set<{ tick(now: number): void }>();
  const client = { disconnected: false };
  const parts = {
    protocols: textProtocols,
    health,
    clock: { now: () => time.now, monotonic: () => time.now },
    timeouts: {},
    ticker: {
      add: (each: { tick(now: number): void }) => {
        watched.add(each);
        return { end: () => watched.delete(each) };
      },
    },
    upstream: {
      send({ origin, path }: { origin: string; path: string }, listener: UpstreamListener) {
        sent.push(origin + path);
        const answered = answer(sent.length);
        if (answered !== 'silence') {
          queueMicrotask(() => {
            listener.onHead(answered[0], {});
            listener.onData(Buffer.from(answered[1]));
            listener.onEnd();
          });
        }
        return { pause: () => {}, resume: () => {}, abort: () => {} };
      },
    },
  } as unknown as TextParts;
  const path = { operation: 'count-tokens', model: null, stream: null } as const;
  const { messages } = textProtocols;
  const askCounters = createUpstreamCounting(parts);
  const opened = {
    health,
    said,
    time,
    sent,
    watched,
    client,
    /** @param more members of the request */
    askWith(more: object, ...routes: Route[]) {
      const input = { protocol: 'messages', operation: 'count-tokens', headers: {}, client };
      const words = { model: 'm', messages: [{ role: 'user', content: 'x' }], ...more };
      const body = Buffer.from(JSON.stringify(words));
      const request = messages.readRequest(messages.openRequest(body, path));
      const prepared = {
        request,
        model: { maxOutputTokens: null },
        bounds: { cap: null, mostInput: Infinity },
        routes,
      } as unknown as PreparedText;
      const ways = routes.map((route) => ({ route, protocol: 'messages' as const }));
      const requests = { of: () => Promise.resolve(null) };
      const tried = { attempts: [], sentRequest: null };
      return askCounters(input as unknown as TextInput, prepared, ways, requests, tried);
    },
  };
  return { ...opened, ask: (...routes: Route[]) => opened.askWith({}, ...routes) };
}

const good = [200, '{"input_tokens":7}'] as const;
const broken = [500, '{}'] as const;

describe('asking counters', () => {
  test('the first that answers', async () => {
    const { ask, sent } = open((asked) => (asked === 1 ? broken : good));
    expect(String(await ask(routeOf('a'), routeOf('b'), routeOf('c')))).toBe(good[1]);
    expect(sent).toHaveLength(2);
  });

  test('no more than two, whatever there is', async () => {
    const { ask, sent } = open(() => broken);
    expect(await ask(routeOf('a'), routeOf('b'), routeOf('c'))).toBeNull();
    expect(sent).toHaveLength(2);
  });

  test('one that failed is left alone for half a minute, one that is missing for ten', async () => {
    const { ask, sent, time } = open((asked) => (asked === 1 ? broken : [404, '{}']));
    const route = routeOf('a');
    const timesAsked = async (now: number) => {
      time.now = now;
      await ask(route);
      return sent.length;
    };
    expect(await timesAsked(0)).toBe(1);
    expect(await timesAsked(29_999)).toBe(1);
    expect(await timesAsked(30_000)).toBe(2);
    expect(await timesAsked(629_999)).toBe(2);
    expect(await timesAsked(630_000)).toBe(3);
    await ask(routeOf('a', 'another-model'));
    expect(sent).toHaveLength(4);
  });

  test('one that does not have what a request names is asked again', async () => {
    const { ask, askWith, sent } = open(() => [404, '{}']);
    const route = routeOf('a');
    expect(await askWith({ container: 'container_gone' }, route)).toBeNull();
    await ask(route);
    await ask(route);
    expect(sent).toHaveLength(2);
  });

  test('a channel that is out, or to be tried again, is not asked', async () => {
    const { ask, sent, health, time } = open(() => good);
    const route = routeOf('a');
    for (let turn = 0; turn < 5; turn += 1) {
      const lease = health.lease(route, false, false, 0);
      if (!lease.admitted) throw new Error('not admitted');
      health.reportOutcome(lease, route, fault, 0);
    }
    expect(await ask(route)).toBeNull();
    time.now = 30_001;
    expect(health.read(route.channel, time.now).breaker).toBe('half-open');
    expect(await ask(route)).toBeNull();
    expect(sent).toEqual([]);
    // The one try it has is still there for a response.
    expect(health.lease(route, false, false, time.now)).toMatchObject({ probe: true });
  });

  test('nothing it does is told to the health', async () => {
    const { ask, said, health } = open(() => [401, '{}']);
    for (let model = 0; model < 10; model += 1) await ask(routeOf('a', `m${model}`));
    expect(said).toEqual([]);
    expect(health.read(routeOf('a').channel, 0)).toMatchObject({
      breaker: 'closed',
      credentials: { ready: 1, cooling: 0, disabled: 0 },
    });
    expect(health.usualTime(routeOf('a'), 'buffered')).toBe(0);
  });

  test('five seconds are enough', async () => {
    const { ask, watched, time } = open(() => 'silence');
    const asked = ask(routeOf('a'), routeOf('b'));
    expect(watched.size).toBe(1);
    for (const each of watched) each.tick(4_999);
    expect(watched.size).toBe(1);
    time.now = 5_000;
    for (const each of watched) each.tick(5_000);
    // Nor is there time for the other one.
    expect(await asked).toBeNull();
    expect(watched.size).toBe(0);
  });

  test('a client that leaves is not worked for', async () => {
    const { ask, watched, client } = open(() => 'silence');
    const asked = ask(routeOf('a'));
    client.disconnected = true;
    for (const each of watched) each.tick(1);
    expect(await asked).toBe('disconnected');
    expect(await ask(routeOf('b'))).toBe('disconnected');
  });

  test('the fault of the request is reported', async () => {
    const { ask } = open(() => [
      400,
      '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}',
    ]);
    const error = await ask(routeOf('a')).then(
      () => null,
      (each: unknown) => each,
    );
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ errorName: 'context_too_long' });
  });
});
