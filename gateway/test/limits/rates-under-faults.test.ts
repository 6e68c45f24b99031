import { randomBytes } from 'node:crypto';
import { setImmediate as immediate } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { RateLimit } from '#limits/index.ts';
import { createRedisRates } from '#limits/redis/redis-rates.ts';
import { connectForTest, FaultyLink, timeoutMs, type Fault } from './faulty-link.ts';
import { redisAnswers, redisUrl, removeKeys } from './implementations.ts';
import { TestClock } from './test-clock.ts';

/*
 * Three nodes on one Redis, whose links fail in any order while it is emptied and put back. What has to hold:
 *
 * - Redis admits nothing beyond the limit by what it was asked and what nodes in touch with it admitted alone.
 * - A node alone stays within its share, with what Redis had admitted for it before.
 * - A slot is granted only if those of all nodes in touch are within the limit.
 *
 * So in any window a rate admits its limit, once more for each loss of Redis's data, and the shares of nodes alone.
 */

/** Random histories; `npm run test:money` asks for many more. */
const histories = Number(process.env['SLUICE_RATE_HISTORIES'] ?? '100');

const nodeCount = 3;
const rate: RateLimit = { name: 'rate', limit: 12, windowMs: 64_000 };
const slots: RateLimit = { name: 'slots', limit: 5, windowMs: 0 };
const shareOf = ({ limit }: RateLimit): number => Math.floor(limit / nodeCount);

const node = fc.nat(nodeCount - 1);
const faults = fc.constantFrom<Fault>('cut', 'mute', 'late');
const waits = fc.constantFrom(20, 300, 5_000, 21_000, 65_000);
const times = fc.integer({ min: 1, max: 8 });
const limits = fc.constantFrom([rate], [slots], [rate, slots]);
const step = fc.oneof(
  { weight: 9, arbitrary: fc.record({ do: fc.constant('ask'), node, times, limits }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('end'), node, times }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait'), ms: waits }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('fail'), node, fault: faults }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('recover'), node, isBefore: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('stop'), node }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('resume'), node }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart'), node }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('empty') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('keep') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('put back') }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Copies all keys with one prefix to another, in place of what was there. */
const copyAll = `
for _, key in ipairs(redis.call('KEYS', ARGV[2] .. '*')) do redis.call('DEL', key) end
for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do
  redis.call('COPY', key, ARGV[2] .. string.sub(key, #ARGV[1] + 1))
end`;

/** Found at random: one node answers from memory after a loss, while another fills the slots anew. */
const found: Step[][] = [
  [
    { do: 'ask', node: 0, times: 6, limits: [rate] },
    { do: 'ask', node: 1, times: 1, limits: [slots] },
    { do: 'restart', node: 0 },
    { do: 'ask', node: 1, times: 7, limits: [rate] },
    { do: 'empty' },
    { do: 'ask', node: 1, times: 1, limits: [rate] },
    { do: 'ask', node: 0, times: 4, limits: [rate, slots] },
    { do: 'wait', ms: 20 },
    { do: 'resume', node: 0 },
  ],
  [
    { do: 'ask', node: 1, times: 1, limits: [rate, slots] },
    { do: 'ask', node: 0, times: 7, limits: [rate] },
    { do: 'ask', node: 1, times: 5, limits: [rate] },
    { do: 'empty' },
    { do: 'ask', node: 1, times: 1, limits: [rate] },
    { do: 'ask', node: 0, times: 4, limits: [rate, slots] },
    { do: 'ask', node: 0, times: 1, limits: [rate] },
    { do: 'ask', node: 0, times: 2, limits: [rate, slots] },
  ],
];

interface Admission {
  readonly at: number;
  /** What Redis knows of it. */
  state: 'counted' | 'unreported' | 'lost';
}

describe.skipIf(!redisAnswers)('rates while links to Redis fail', () => {
  let redis: Awaited<ReturnType<typeof connectForTest>>;
  beforeAll(async () => {
    redis = await connectForTest();
  });
  afterAll(() => redis.close());

  class Node {
    readonly link: FaultyLink;
    readonly own: Admission[] = [];
    readonly running = new Set<string>();
    /** Redis knows of its slots. */
    isInTouch = true;
    readonly rates;

    private constructor(link: FaultyLink, rates: Awaited<ReturnType<typeof createRedisRates>>) {
      this.link = link;
      this.rates = rates;
    }

    static async open(prefix: string, clock: TestClock): Promise<Node> {
      const link = new FaultyLink(redis, clock);
      const rates = await createRedisRates({
        url: redisUrl,
        prefix,
        now: () => clock.wall,
        monotonic: () => clock.monotonic,
        random: () => 0,
        liveNodes: () => nodeCount,
        log: { info: () => {}, error: () => {} },
        serverTime: () => clock.wall * 1_000,
        commandTimeoutMs: timeoutMs,
        open: link.open,
      });
      return new Node(link, rates);
    }

    /** Redis has heard of all that the node did. */
    touch(): void {
      if (!this.link.isUp) return;
      this.isInTouch = true;
      for (const admission of this.own) {
        if (admission.state === 'unreported') admission.state = 'counted';
      }
    }
  }

  async function run(steps: readonly Step[]): Promise<void> {
    const prefix = `test-${randomBytes(6).toString('hex')}:`;
    const clock = new TestClock();
    const nodes: Node[] = [];
    for (let at = 0; at < nodeCount; at += 1) nodes.push(await Node.open(prefix, clock));
    let count = 0;
    let isKept = false;
    /** Of all nodes, dead ones included. */
    const all: Admission[] = [];

    const lately = (admissions: readonly Admission[]) =>
      admissions.filter(({ at }) => clock.monotonic - at < rate.windowMs);

    const judge = (asked: Node, limits: readonly RateLimit[], isAlone: boolean): void => {
      const own = lately(asked.own).length;
      const counted = lately(all).filter(({ state }) => state === 'counted').length;
      const inTouch = nodes.filter(({ isInTouch, link }) => isInTouch && link.isUp);
      const running = inTouch.reduce((sum, one) => sum + one.running.size, 0);
      if (limits.includes(rate)) {
        if (isAlone) expect(own).toBeLessThanOrEqual(shareOf(rate));
        else expect(counted).toBeLessThanOrEqual(rate.limit);
      }
      if (limits.includes(slots)) {
        if (isAlone) expect(asked.running.size).toBeLessThanOrEqual(shareOf(slots));
        else expect(running).toBeLessThanOrEqual(slots.limit);
      }
    };

    const ask = async (asked: Node, limits: readonly RateLimit[]): Promise<void> => {
      const { link, rates } = asked;
      const id = `request-${(count += 1)}`;
      const [wasUp, failures, heard] = [link.isUp, link.failures, link.heard];
      const decision = await rates.checkRates({ id, limits });
      const isAlone = !wasUp || link.failures > failures;
      await link.settled();
      if (decision.admitted && limits.includes(rate)) {
        const state = isAlone ? 'unreported' : 'counted';
        const admission: Admission = { at: clock.monotonic, state };
        asked.own.push(admission);
        all.push(admission);
      }
      if (decision.admitted && limits.includes(slots)) asked.running.add(id);
      if (isAlone) asked.isInTouch = false;
      // A node that remembers a refusal asks nobody, and does not notice that data were lost.
      const hasHeard = link.heard > heard;
      if (!isAlone && hasHeard) asked.touch();
      if (decision.admitted) judge(asked, limits, isAlone);
      // It may have found out that data were lost, and come back since.
      if (hasHeard) asked.touch();
    };

    const forgetAll = (): void => {
      for (const one of nodes) one.isInTouch = false;
      // What comes back with a copy counts, but nobody may rely on it.
      for (const admission of all) if (admission.state === 'counted') admission.state = 'lost';
    };

    const turns = async (): Promise<void> => {
      for (let turn = 0; turn < 4; turn += 1) await immediate();
      for (const { link } of nodes) await link.settled();
      await redis.ping();
      for (let turn = 0; turn < 4; turn += 1) await immediate();
    };

    const wait = async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 2_000) {
        const part = Math.min(2_000, ms - passed);
        clock.advance(part);
        vi.advanceTimersByTime(part);
        await turns();
      }
    };

    const take = async (step: Step): Promise<void> => {
      const at = 'node' in step ? nodes[step.node]! : nodes[0]!;
      const isAwake = !at.link.isStopped;
      if (step.do === 'wait') await wait(step.ms);
      else if (step.do === 'ask' && isAwake) {
        for (let turn = 0; turn < step.times; turn += 1) await ask(at, step.limits);
      } else if (step.do === 'end' && isAwake) {
        for (const id of [...at.running].slice(0, step.times)) {
          at.running.delete(id);
          at.rates.leave(id);
        }
        await turns();
      } else if (step.do === 'fail') at.link.begin(step.fault);
      else if (step.do === 'recover' && isAwake) {
        const wasUp = at.link.isUp;
        await at.link.recover(step.isBefore);
        if (!wasUp) at.touch();
      } else if (step.do === 'stop') {
        at.link.isStopped = true;
        at.isInTouch = false;
      } else if (step.do === 'resume') {
        at.link.isStopped = false;
        await ask(at, [rate, slots]);
      } else if (step.do === 'restart') {
        await at.rates.close();
        nodes[step.node] = await Node.open(prefix, clock);
      } else if (step.do === 'keep') {
        await redis.eval(copyAll, { arguments: [prefix, `copy-${prefix}`] });
        isKept = true;
      } else if (step.do === 'empty') {
        await redis.eval(copyAll, { arguments: ['no key begins like this', prefix] });
        forgetAll();
      } else if (step.do === 'put back' && isKept) {
        await redis.eval(copyAll, { arguments: [`copy-${prefix}`, prefix] });
        forgetAll();
      }
    };

    try {
      for (const each of steps) await take(each);
    } finally {
      for (const { rates } of nodes) await rates.close();
      await removeKeys(prefix);
      await removeKeys(`copy-${prefix}`);
    }
  }

  test(
    'P-14: neither a rate nor a limit of concurrency is exceeded by what can be known',
    { timeout: 600_000 },
    async () => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      try {
        await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), run), {
          numRuns: histories + found.length,
          examples: found.map((steps): [Step[]] => [steps]),
          interruptAfterTimeLimit: 300_000,
        });
      } finally {
        vi.useRealTimers();
      }
    },
  );
});
