import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Channel, Route } from '#catalogue/index.ts';
import type { ChannelLease } from './channel-lease.ts';
import { createChannelHealth, type AttemptResult, type ChannelHealth } from './health.ts';

const routeOf = (id: string, credentials: string[] = ['a'], baseUrl = 'http://x'): Route => ({
  channel: { id, name: id, baseUrl, credentials } as unknown as Channel,
  upstreamModel: 'up',
});

const fault: AttemptResult = { kind: 'failover', as: 'abnormal', blame: 'channel' };
const refused: AttemptResult = { kind: 'failover', as: 'abnormal', blame: 'credential' };
const missing: AttemptResult = { kind: 'failover', as: 'model-missing', blame: 'model' };
const harmless: AttemptResult = { kind: 'failover', as: 'abnormal', blame: 'none' };
const limited = (coolDownSeconds: number): AttemptResult => ({
  kind: 'failover',
  as: 'rate-limited',
  blame: 'quota',
  coolDownSeconds,
});
const overloaded = (coolDownSeconds: number): AttemptResult => ({
  kind: 'failover',
  as: 'overloaded',
  blame: 'channel',
  coolDownSeconds,
});

const open = () => {
  const said: string[] = [];
  const health = createChannelHealth(({ channel, message }) => said.push(`${channel} ${message}`));
  return { health, said };
};

function mustAdmit(
  health: ChannelHealth,
  route: Route,
  now: number,
  mayFailOver = false,
): ChannelLease {
  const lease = health.lease(route, false, mayFailOver, now);
  if (!lease.admitted) throw new Error(`not admitted: ${lease.kind}`);
  return lease;
}

/** One whole attempt; gives the secret it was made with, or why there was none. */
function attempt(
  health: ChannelHealth,
  route: Route,
  result: AttemptResult,
  now: number,
  mayFailOver = false,
): string | null {
  const lease = health.lease(route, false, mayFailOver, now);
  if (!lease.admitted) return `(${lease.kind})`;
  health.reportOutcome(lease, route, result, now);
  return lease.secret;
}

describe('credentials', () => {
  const three = routeOf('three', ['a', 'b', 'c']);

  test('are used in turn', () => {
    const { health } = open();
    const used = [1, 2, 3, 4].map((now) => attempt(health, three, 'answered', now));
    expect(used).toEqual(['a', 'b', 'c', 'a']);
  });

  test('a cooling one is skipped until its time', () => {
    const { health } = open();
    attempt(health, three, limited(5), 0);
    const used = [1, 2, 3].map((now) => attempt(health, three, 'answered', now));
    expect(used).toEqual(['b', 'c', 'b']);
    expect(attempt(health, three, 'answered', 4_999)).toBe('c');
    expect(attempt(health, three, 'answered', 5_000)).toBe('a');
  });

  test('R-06: the wait is that of the credential that is usable first', () => {
    const { health } = open();
    attempt(health, three, limited(9), 0);
    expect(health.waitOf(three, 0)).toBe(0);
    attempt(health, three, limited(3), 0);
    attempt(health, three, limited(6), 0);
    expect(attempt(health, three, 'answered', 1_000)).toBe('(rate-limited)');
    expect(health.waitOf(three, 1_000)).toBe(2_000);
  });

  test('a reading has the state of each, and when the channel is tried again', () => {
    const { health } = open();
    const { channel } = three;
    attempt(health, three, limited(9), 0);
    expect(health.read(channel, 0)).toMatchObject({
      states: ['cooling', 'ready', 'ready'],
      rest: 0,
    });
    attempt(health, three, refused, 0);
    attempt(health, three, limited(3), 0);
    expect(health.read(channel, 1_000)).toMatchObject({
      states: ['cooling', 'disabled', 'cooling'],
      credentials: { ready: 0, cooling: 2, disabled: 1 },
      rest: 2_000,
    });
    const other = routeOf('other');
    attempt(health, other, overloaded(4), 0);
    expect(health.read(other.channel, 1_000)).toMatchObject({ states: ['cooling'], rest: 3_000 });
    const ejected = routeOf('ejected');
    for (let n = 0; n < 5; n += 1) attempt(health, ejected, fault, 0);
    expect(health.read(ejected.channel, 1_000)).toMatchObject({ breaker: 'open', rest: 29_000 });
  });

  test('a shorter cool-down never shortens a longer one', () => {
    const { health } = open();
    const one = routeOf('one');
    const [first, second] = [mustAdmit(health, one, 0), mustAdmit(health, one, 0)];
    health.reportOutcome(first, one, limited(9), 0);
    health.reportOutcome(second, one, limited(1), 0);
    expect(health.waitOf(one, 0)).toBe(9_000);
  });

  test('a refused one is disabled, then probed by one request at a time, less and less often', () => {
    const { health, said } = open();
    const one = routeOf('one');
    attempt(health, one, refused, 0);
    expect(attempt(health, one, 'answered', 59_999)).toBe('(credential-refused)');
    const trial = mustAdmit(health, one, 60_000);
    expect(attempt(health, one, 'answered', 60_000)).toBe('(credential-refused)');
    health.reportOutcome(trial, one, refused, 60_000);
    expect(attempt(health, one, 'answered', 60_000 + 119_999)).toBe('(credential-refused)');
    expect(attempt(health, one, 'answered', 60_000 + 120_000)).toBe('a');
    expect(attempt(health, one, 'answered', 60_000 + 120_000)).toBe('a');
    expect(said).toEqual([
      'one rejects credential 1 of 1: not using it for 60 s',
      'one rejects credential 1 of 1: not using it for 120 s',
    ]);
  });

  test('a refused one is probed only if another channel can step in, or in need', () => {
    const { health } = open();
    const two = routeOf('two', ['bad', 'good']);
    attempt(health, two, refused, 0);
    const used = [1, 2, 3].map(() => attempt(health, two, 'answered', 70_000));
    expect(used).toEqual(['good', 'good', 'good']);
    expect(attempt(health, two, refused, 70_000, true)).toBe('bad');
    expect(attempt(health, two, limited(600), 70_000, true)).toBe('good');
    expect(attempt(health, two, 'answered', 200_000)).toBe('bad');
  });

  test('many concurrent refusals count as one', () => {
    const { health, said } = open();
    const one = routeOf('one');
    const all = Array.from({ length: 20 }, () => mustAdmit(health, one, 0));
    for (const each of all) health.reportOutcome(each, one, refused, 1_000);
    expect(health.waitOf(one, 1_000)).toBe(60_000);
    expect(said).toHaveLength(1);
  });

  test('a response that began before the refusal does not revoke it', () => {
    const { health } = open();
    const one = routeOf('one');
    const early = mustAdmit(health, one, 0);
    attempt(health, one, refused, 0);
    health.reportOutcome(early, one, 'answered', 10);
    expect(attempt(health, one, 'answered', 20)).toBe('(credential-refused)');
  });

  test('a refusal is reported with the code that the upstream gave', () => {
    const { health, said } = open();
    const because = { ...(refused as object), code: 'Arrearage' } as AttemptResult;
    attempt(health, routeOf('one', ['a', 'b']), because, 0);
    expect(said).toEqual(['one rejects credential 1 of 2 (Arrearage): not using it for 60 s']);
  });

  test('a new secret starts with a clean state, a known one keeps its past', () => {
    const { health } = open();
    attempt(health, routeOf('one', ['old']), refused, 0);
    expect(attempt(health, routeOf('one', ['old']), 'answered', 1)).toBe('(credential-refused)');
    expect(attempt(health, routeOf('one', ['new', 'old']), 'answered', 1)).toBe('new');
    expect(attempt(health, routeOf('one', ['new', 'old']), 'answered', 1)).toBe('new');
  });

  test('a channel without a credential has health too', () => {
    const { health } = open();
    const bare = routeOf('bare', []);
    expect(attempt(health, bare, overloaded(1), 0)).toBe(null);
    expect(attempt(health, bare, 'answered', 500)).toBe('(overloaded)');
    expect(health.waitOf(bare, 500)).toBe(500);
  });
});

describe('channels', () => {
  const [a, b] = [routeOf('a'), routeOf('b')];
  const eject = (health: ChannelHealth, route: Route, now: number) => {
    for (let count = 0; count < 5; count += 1) attempt(health, route, fault, now);
  };

  test('an overloaded one rests as a whole', () => {
    const { health } = open();
    const two = routeOf('two', ['a', 'b']);
    attempt(health, two, overloaded(5), 0);
    expect(attempt(health, two, 'answered', 4_999)).toBe('(overloaded)');
    expect(attempt(health, two, 'answered', 5_000)).toBe('b');
  });

  test('R-09: only the upstream’s own faults count', () => {
    const { health } = open();
    for (const result of ['undecided', harmless, limited(0)] as const) {
      for (let count = 0; count < 20; count += 1) attempt(health, a, result, 0);
    }
    expect(attempt(health, a, 'answered', 0)).toBe('a');
  });

  test('R-10: of many requests after the time exactly one is the probe', () => {
    const { health, said } = open();
    eject(health, a, 0);
    const leases = Array.from({ length: 50 }, () => health.lease(a, false, true, 30_000));
    const [probe, ...more] = leases.filter((each): each is ChannelLease => each.admitted);
    expect(more).toEqual([]);
    health.reportOutcome(probe!, a, 'answered', 30_100);
    expect(attempt(health, a, 'answered', 30_100)).toBe('a');
    expect(said).toEqual([
      'a failed 5 times in a row: other channels are preferred until it responds again',
      'a responds again',
    ]);
  });

  test('a channel whose responses begin and break is reported once', () => {
    const { health, said } = open();
    eject(health, a, 0);
    for (let now = 30_000; now < 3_000_000; now += 300_000) {
      const probe = mustAdmit(health, a, now);
      health.reportBegin(probe, a, now);
      health.reportOutcome(probe, a, fault, now);
    }
    expect(said).toHaveLength(1);
    expect(attempt(health, a, 'answered', 4_000_000)).toBe('a');
    expect(said.at(-1)).toBe('a responds again');
  });

  test('an inconclusive probe leaves the probe to the next request', () => {
    const { health } = open();
    eject(health, a, 0);
    for (const result of ['undecided', harmless, limited(0)] as const) {
      expect(attempt(health, a, result, 30_000)).toBe('a');
    }
    expect(attempt(health, a, fault, 30_000)).toBe('a');
    expect(attempt(health, a, 'answered', 30_000)).toBe('(abnormal)');
  });

  test('a missing model is skipped, the channel’s other models are not', () => {
    const { health } = open();
    attempt(health, a, missing, 0);
    expect(attempt(health, a, 'answered', 299_999)).toBe('(model-missing)');
    expect(attempt(health, { ...a, upstreamModel: 'other' }, 'answered', 1)).toBe('a');
    expect(attempt(health, a, 'answered', 300_000)).toBe('a');
  });

  test('an ejected channel without an alternative is used, and that is reported once', () => {
    const { health, said } = open();
    eject(health, a, 0);
    eject(health, b, 10);
    for (let count = 0; count < 10; count += 1) {
      const last = health.admitAnyway([a, b], 20);
      // Ejected last, so it is the one of which least is known.
      expect(last?.route).toBe(b);
      health.reportOutcome(last!.lease, b, fault, 20);
    }
    expect(said.slice(2)).toEqual(["b is failing but stays in use: no other channel serves 'up'"]);
    const last = health.admitAnyway([a, b], 30);
    health.reportOutcome(last!.lease, b, 'answered', 30);
    expect(attempt(health, b, 'answered', 30)).toBe('a');
  });

  test('the last resort is the channel with the fewest consecutive ejections', () => {
    const { health } = open();
    eject(health, a, 0);
    eject(health, b, 10);
    attempt(health, a, fault, 30_000);
    expect(health.admitAnyway([a, b], 30_001)?.route).toBe(b);
  });

  test('a missing model is tried if nothing else is left, after an ejected channel', () => {
    const { health } = open();
    attempt(health, a, missing, 0);
    expect(health.admitAnyway([a], 0)?.route).toBe(a);
    eject(health, b, 0);
    expect(health.admitAnyway([a, b], 0)?.route).toBe(b);
  });

  test('a cooling or refused channel is no last resort', () => {
    const { health } = open();
    attempt(health, a, limited(5), 0);
    attempt(health, b, refused, 0);
    expect(health.admitAnyway([a, b], 1)).toBe(null);
  });

  test('another address is another channel; the same one keeps its past', () => {
    const { health } = open();
    eject(health, a, 0);
    expect(attempt(health, routeOf('a'), 'answered', 1)).toBe('(abnormal)');
    expect(attempt(health, routeOf('a', ['a'], 'http://y'), 'answered', 1)).toBe('a');
  });

  test('R-08: retries on a failing channel have a budget, first attempts have none', () => {
    const { health } = open();
    expect(Array.from({ length: 9 }, () => health.lease(b, true, true, 0).admitted)).not.toContain(
      false,
    );
    for (let count = 0; count < 20; count += 1) attempt(health, a, harmless, 0);
    for (let count = 0; count < 20; count += 1) mustAdmit(health, a, 0);
    const retries = Array.from({ length: 10 }, () => health.lease(a, true, true, 0));
    expect(retries.filter((each) => each.admitted)).toHaveLength(4);
    expect(retries.at(-1)).toEqual({ admitted: false, kind: null, reason: 'retry-budget' });
    mustAdmit(health, a, 0);
  });

  test('attempts of a healthy channel allocate nothing', () => {
    const { health } = open();
    const first = mustAdmit(health, a, 0);
    health.reportOutcome(first, a, 'answered', 0);
    expect(mustAdmit(health, a, 1)).toBe(first);
    eject(health, a, 2);
    const probe = mustAdmit(health, a, 40_000);
    health.reportOutcome(probe, a, 'answered', 40_000);
    const again = mustAdmit(health, a, 40_001);
    expect(again).not.toBe(first);
    expect(mustAdmit(health, a, 40_002)).toBe(again);
  });

  test('while an upstream only fails, some channel is admitted for every request', () => {
    const results = fc.constantFrom<AttemptResult>('answered', 'undecided', fault, missing);
    const step = fc.record({ wait: fc.integer({ min: 0, max: 60_000 }), result: results });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 }),
        fc.array(step, { minLength: 10, maxLength: 120 }),
        (count, steps) => {
          const { health } = open();
          const routes = ['a', 'b', 'c'].slice(0, count).map((id) => routeOf(id));
          const underWay: { route: Route; lease: ChannelLease; result: AttemptResult }[] = [];
          let now = 0;
          for (const { wait, result } of steps) {
            now += wait;
            let found = null;
            for (const route of routes) {
              const lease = health.lease(route, false, true, now);
              if (lease.admitted) {
                found = { route, lease };
                break;
              }
            }
            found ??= health.admitAnyway(routes, now);
            if (found === null) throw new Error('nothing was admitted');
            underWay.push({ ...found, result });
            if (underWay.length > 3) {
              const first = underWay.shift()!;
              health.reportOutcome(first.lease, first.route, first.result, now);
            }
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
