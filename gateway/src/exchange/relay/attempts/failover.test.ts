import { describe, expect, test } from 'vitest';
import type { Route } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { Intent } from '#journal/index.ts';
import { type AttemptResult, type ChannelHealth, createChannelHealth } from '#routing/index.ts';
import type { UpstreamClient, UpstreamRequest } from '#upstream/index.ts';
import { ClientGone } from '../exchange.ts';
import { createDrainSlots } from '../overload/concurrency-gate.ts';
import type { SentRequest } from '../ending/record.ts';
import type { Attempt } from './attempt.ts';
import { Failover } from './failover.ts';
import { type AttemptOutcome, brokenAttempt } from './outcome.ts';
import type { RequestPlan } from './request-plan.ts';

/* With a plan of its own: failover knows nothing of what is sent and answered. */

/** A channel named `vendor-1` is at that vendor. */
const routeOf = (id: string): Route =>
  ({
    channel: {
      id,
      name: id,
      provider: id.split('-')[0],
      baseUrl: `https://${id}.example/v1`,
      credentials: [`secret-of-${id}`],
      headers: {},
      timeouts: {},
    },
    upstreamModel: `${id}-up`,
  }) as unknown as Route;

const response = { kind: 'complete', status: 200, response: 'hello' } as const;
const broken = brokenAttempt(500, 'started', 'reset');
const cure = { kind: 'without-state' } as const;
const clientFault: AttemptOutcome = {
  ...broken,
  classification: { kind: 'client', error: 'context_too_long' },
};

/** @param outcomes by channel; an Error is thrown while the request is made. */
function open(
  outcomes: Readonly<Record<string, AttemptOutcome | Error>>,
  more: Partial<RequestPlan<SentRequest, unknown, unknown>> = {},
  keepsErrorTexts = true,
) {
  const asked: string[] = [];
  const client = { disconnected: false, failedWith: null, fail: () => {}, onDisconnect: () => {} };
  const plan: RequestPlan<SentRequest, unknown, unknown> = {
    routes: Object.keys(outcomes).map(routeOf),
    model: 'm',
    kind: 'buffered',
    request({ channel: { name }, upstreamModel }) {
      if (outcomes[name] instanceof Error) throw outcomes[name];
      return {
        sentRequest: {
          channel: name,
          upstreamModel,
          rewrites: [`r-${name}`],
          losses: [],
          responseLosses: null,
          upstreamState: null,
          ttftMs: null,
        },
        upstream: { origin: name } as UpstreamRequest,
        receiver: { attempt: null as never, takes: 'whole', drainMs: 0 },
        onLeave: 'cancel',
      };
    },
    errorOf: () => new GatewayError('context_too_long'),
    ...more,
  };
  const health = createChannelHealth(() => {});
  const upstream = {
    send({ origin }: UpstreamRequest, attempt: Attempt<unknown, unknown>) {
      asked.push(origin);
      attempt.upstreamHeaders = { 'x-request-id': origin };
      queueMicrotask(() => {
        const outcome = outcomes[origin] as AttemptOutcome;
        if (outcome.kind === 'failed') attempt.words = outcome.words ?? null;
        attempt.finish(outcome);
      });
      return {};
    },
  };
  const parts = {
    health,
    upstream: upstream as unknown as UpstreamClient,
    clock: { now: () => 0, monotonic: () => 0 },
    timeouts: { total: 1_000 } as never,
    keepsErrorTexts,
    ticker: { add: () => ({ end: () => {} }) } as never,
    drains: createDrainSlots(1),
    journal: { begin: ({ channel }: Intent) => void begun.push(channel) },
    onUnexpectedError: (error: unknown) => void defects.push(error),
  };
  const defects: unknown[] = [];
  const begun: string[] = [];
  const caller = { keyId: 'key_1', userId: 'usr_1', teamId: null } as never;
  const input = { id: 'req_1', caller, client: client as never, headers: {}, startedAt: 0 };
  const run = () => new Failover(parts, { input, hold: null }, plan).run();
  return { asked, begun, client, defects, health, routes: plan.routes, run };
}

const left: AttemptOutcome = {
  kind: 'disconnected',
  isSent: true,
  status: null,
  isShown: false,
  seenResponse: null,
};

test.each([
  [response, true],
  [{ ...left, isShown: true }, true],
  [left, false],
  [broken, false],
])('a cure is known by a response, not by %j', async (outcome, isKnown) => {
  const outcomes: Record<string, AttemptOutcome> = {
    a: { ...broken, classification: { kind: 'client', error: 'upstream_rejected', cure } },
  };
  const cured: string[] = [];
  const { run } = open(outcomes, {
    cure: async () => {
      outcomes['a'] = outcome;
      return true;
    },
    cured: ({ channel }) => void cured.push(channel.name),
  });
  await run();
  expect(cured).toEqual(isKnown ? ['a'] : []);
});

describe('what attempts return', () => {
  test('the response, with all requests that were sent and the one that was answered', async () => {
    const { run, asked, begun } = open({ a: broken, b: response, c: response });
    expect(await run()).toMatchObject({
      outcome: { kind: 'complete', response: 'hello' },
      attempts: [
        { channel: 'a', class: 'started', result: 'reset', upstreamRequestId: 'a' },
        { channel: 'b', class: 'shown', result: 'completed', upstreamRequestId: 'b' },
      ],
      sentRequest: { channel: 'b', upstreamModel: 'b-up', rewrites: ['r-b'] },
    });
    expect(asked).toEqual(['a', 'b']);
    expect(begun).toEqual(['a', 'b']);
  });

  test.each([
    [true, 'server_error: no, says [address] to [key]'],
    [false, undefined],
  ])('the words of an upstream without its secrets, if they are kept: %s', async (keeps, words) => {
    const said = { ...broken, words: 'server_error: no, says a.example to secret-of-a' };
    const { run } = open({ a: said, b: response }, {}, keeps);
    const { attempts } = await run();
    expect(attempts.map((attempt) => attempt.words)).toEqual([words, undefined]);
    expect(attempts.map(({ blame }) => blame)).toEqual(['channel', undefined]);
  });

  test('when none answers: no channel, and what was changed for the last', async () => {
    const { run } = open({ a: broken, b: broken });
    expect(await run()).toMatchObject({
      outcome: { kind: 'unanswered', error: { errorName: 'upstream_abnormal' } },
      attempts: [{ channel: 'a' }, { channel: 'b' }],
      sentRequest: { channel: null, upstreamModel: null, rewrites: ['r-b'] },
    });
  });

  test('when the client is at fault: the channel that reports it', async () => {
    const { run, asked } = open({ a: clientFault, b: response });
    expect(await run()).toMatchObject({
      outcome: { kind: 'unanswered', error: { errorName: 'context_too_long' } },
      sentRequest: { channel: 'a' },
    });
    expect(asked).toEqual(['a']);
  });

  test('when a request cannot be built: what was sent before', async () => {
    const defect = new TypeError('x');
    const { run, defects } = open({ a: broken, b: defect });
    expect(await run()).toMatchObject({
      outcome: { kind: 'unanswered', error: { errorName: 'upstream_abnormal' } },
      attempts: [{ channel: 'a' }],
      sentRequest: { channel: null, rewrites: ['r-a'] },
      passed: [{ channel: 'b', reason: 'unable' }],
    });
    expect(defects).toEqual([defect]);
  });

  test('a defect keeps no other channel from being asked', async () => {
    const defect = new TypeError('x');
    const { run, asked, defects } = open({ a: defect, b: defect, c: broken, d: response });
    expect(await run()).toMatchObject({ outcome: { kind: 'complete', response: 'hello' } });
    expect([asked, defects]).toEqual([
      ['c', 'd'],
      [defect, defect],
    ]);

    const unable = open(
      { a: response, b: response },
      { unable: async () => Promise.reject(defect) },
    );
    expect(await unable.run()).toMatchObject({ outcome: { kind: 'unanswered', error: defect } });
    // The caller reports the one that the client's error stands for.
    expect([unable.asked, unable.defects]).toEqual([[], []]);
  });

  test('when the client is gone: that nobody was asked', async () => {
    const { run, client, asked } = open({ a: response });
    client.disconnected = true;
    expect(await run()).toEqual({
      outcome: { kind: 'not-asked' },
      attempts: [],
      sentRequest: null,
      passed: [],
    });
    expect(asked).toEqual([]);
    expect(await open({ a: new ClientGone() }).run()).toMatchObject({
      outcome: { kind: 'not-asked' },
    });
  });
});

describe('a 400 that nothing explains', () => {
  const unexplained: AttemptOutcome = {
    ...broken,
    classification: { kind: 'client', error: 'upstream_rejected' },
  };
  const explained: AttemptOutcome = {
    ...broken,
    classification: { kind: 'client', error: 'upstream_rejected', isExplained: true },
  };
  type Outcomes = Parameters<typeof open>[0];
  /** Every request is converted, except those for channels of `native`. */
  const asking = async (outcomes: Outcomes, native = '-') => {
    const { run, asked } = open(outcomes, {
      isConverted: ({ channel }) => !channel.name.includes(native),
      errorOf: ({ classification }) =>
        new GatewayError(classification.kind === 'client' ? classification.error : 'unavailable'),
    });
    const { outcome, attempts, sentRequest } = await run();
    const end = outcome.kind === 'unanswered' ? outcome.error : outcome;
    expect(attempts.map(({ channel }) => channel)).toEqual(asked);
    return { asked, end, channel: sentRequest?.channel };
  };
  const rejected: unknown = expect.objectContaining({ errorName: 'upstream_rejected' });
  const [one, two] = ['anthropic', 'gemini'];

  test.each<[string, Outcomes, unknown, string[]]>([
    ['answers', { [one]: unexplained, [two]: response }, response, [one, two]],
    [
      'is the next of another vendor',
      { 'openai-1': unexplained, 'openai-2': response, [two]: response },
      response,
      ['openai-1', two],
    ],
  ])('the channel that is asked once more %s', async (_, outcomes, end, asked) => {
    expect(await asking(outcomes, 'none')).toEqual({ end, asked, channel: two });
  });

  test.each<[string, Outcomes, string[]]>([
    ['refuses it too', { [one]: unexplained, [two]: unexplained, ark: response }, [one, two]],
    ['fails', { [one]: unexplained, [two]: broken, ark: response }, [one, two]],
    ['cannot be reached', { [one]: unexplained, [two]: new TypeError('x') }, [one]],
    ['is of the same vendor', { 'openai-1': unexplained, 'openai-2': response }, ['openai-1']],
    [
      'is one too many',
      { a: broken, b: broken, [one]: unexplained, [two]: response },
      ['a', 'b', one],
    ],
  ])('stays the client’s if the other one %s', async (_, outcomes, asked) => {
    const refused = asked.find((name) => outcomes[name] === unexplained);
    expect(await asking(outcomes, 'none')).toEqual({ end: rejected, asked, channel: refused });
  });

  test.each<[string, AttemptOutcome, string]>([
    ['of a request that was not converted', unexplained, one],
    ['that is explained', explained, 'none'],
    ['with an error of its own', clientFault, 'none'],
  ])('stays the client’s at once: one %s', async (_, outcome, native) => {
    expect((await asking({ [one]: outcome, [two]: response }, native)).asked).toEqual([one]);
  });

  test('gives way to an explanation', async () => {
    const { end } = await asking({ [one]: unexplained, [two]: clientFault }, 'none');
    expect(end).toMatchObject({ errorName: 'context_too_long' });
  });
});

describe('channels that were not asked', () => {
  test('are not reached behind the one that responded', async () => {
    const { run } = open({ a: broken, b: response, c: response });
    expect(await run()).toMatchObject({ passed: [{ channel: 'c', reason: 'not-reached' }] });
    expect(await open({ a: response }).run()).toMatchObject({ passed: [] });
  });

  test('say why they were passed over', async () => {
    const refused = new GatewayError('context_too_long');
    const { run, health, routes } = open(
      { a: response, b: response, c: response },
      { unable: ({ channel }) => (channel.name === 'b' ? Promise.resolve(refused) : null) },
    );
    eject(health, routes[0]!);
    expect(await run()).toMatchObject({
      attempts: [{ channel: 'c' }],
      passed: [
        { channel: 'a', reason: 'ejected' },
        { channel: 'b', reason: 'unable' },
      ],
    });
  });

  test('do not include one that is asked as the last resort', async () => {
    const { run, health, routes } = open({ a: response });
    eject(health, routes[0]!);
    expect(await run()).toMatchObject({ attempts: [{ channel: 'a' }], passed: [] });
  });
});

/** Until the channel rests. */
function eject(health: ChannelHealth, route: Route): void {
  for (;;) {
    const lease = health.lease(route, false, true, 0);
    if (!lease.admitted) return;
    health.reportOutcome(lease, route, broken.classification as AttemptResult, 0);
  }
}

describe('a request that may cost something even if its response is lost', () => {
  type Failed = [string, AttemptOutcome];
  const failed = (status: number | null, reach: 'not-sent' | 'uncertain' | 'started') => ({
    ...brokenAttempt(status ?? 0, reach, 'x'),
    status,
  });

  test.each<Failed>([
    ['was not sent', failed(null, 'not-sent')],
    ...[401, 402, 403, 404, 429, 503, 529].map((status): Failed => [
      `was refused with ${status}`,
      failed(status, 'started'),
    ]),
  ])('goes to the next channel if it %s', async (_, failure) => {
    const { run, asked } = open({ a: failure, b: response }, { isCostly: true });
    expect(await run()).toMatchObject({ outcome: { kind: 'complete' } });
    expect(asked).toEqual(['a', 'b']);
  });

  test.each<Failed>([
    ['a time-out or a cut', failed(null, 'uncertain')],
    ['a stale connection', { ...failed(null, 'uncertain'), stale: true }],
    ['a response that breaks off or cannot be read', failed(200, 'started')],
    ['an error in a response', failed(null, 'started')],
    ...[400, 500, 502, 504].map((status): Failed => [
      `status ${status}`,
      failed(status, 'started'),
    ]),
  ])('is not sent again after %s', async (_, failure) => {
    const { run, asked } = open({ a: failure, b: response }, { isCostly: true });
    const { outcome, attempts } = await run();
    expect(outcome).toMatchObject({ error: { errorName: 'upstream_abnormal' } });
    expect(attempts).toHaveLength(1);
    expect(asked).toEqual(['a']);
  });
});

describe('a route that cannot be asked for this', () => {
  const refusal = new GatewayError('invalid_value', { values: { reason: 'x' } });

  test('is passed over', async () => {
    const unable = ({ channel }: Route) => Promise.resolve(channel.name === 'a' ? refusal : null);
    const { run, asked } = open({ a: response, b: response }, { unable });
    expect(await run()).toMatchObject({ sentRequest: { channel: 'b' } });
    expect(asked).toEqual(['b']);
  });

  test('is the reason when there is no other', async () => {
    const { run } = open({ a: response, b: response }, { unable: () => Promise.resolve(refusal) });
    const { outcome, attempts, sentRequest } = await run();
    expect(outcome).toEqual({ kind: 'unanswered', error: refusal });
    expect({ attempts, sentRequest }).toEqual({ attempts: [], sentRequest: null });
  });
});

test('a channel that lacks what the request names is not blamed for it', async () => {
  const missing: AttemptOutcome = {
    ...broken,
    classification: { kind: 'failover', as: 'model-missing', blame: 'model' },
  };
  const error = new GatewayError('state_not_found', { values: { param: 'input' } });
  const named = { lacksState: () => true, stateError: () => error };
  const { run, health } = open({ a: missing, b: missing }, named);
  expect(await run()).toMatchObject({ outcome: { error } });
  expect(health.lease(routeOf('a'), false, false, 0).admitted).toBe(true);
});
