import type { ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { TestGateway } from '../support/gateway.ts';
import { startOwnUpstream } from '../support/own-upstream.ts';
import {
  ask,
  attemptsOf,
  describeChannels,
  jumpingClock,
  openGateway,
  rowOf,
  shareGateway,
  until,
} from './support.ts';
import { textProtocols } from './text-protocols.ts';

const chat = textProtocols[0]!;

const askedAt = (gateway: TestGateway, part: string): number =>
  gateway.simulator.requests().filter(({ path }) => path.includes(part)).length;

/** Sends this many requests concurrently or one after another; returns the count of each status. */
async function statuses(
  gateway: TestGateway,
  count: number,
  how: 'together' | 'in turn',
  stream = false,
  model = 'demo-chat',
): Promise<Record<number, number>> {
  const one = async () => (await ask(gateway, chat, stream, model)).status;
  const all: number[] = [];
  if (how === 'together') all.push(...(await Promise.all(Array.from({ length: count }, one))));
  else for (let index = 0; index < count; index += 1) all.push(await one());
  const counts: Record<number, number> = {};
  for (const status of all) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const badAndTwoGood = (fault: string) =>
  describeChannels([
    { name: 'bad', at: `/fault(${fault};id=bad)`, models: ['demo-chat'] },
    { name: 'good', models: ['demo-chat'] },
    { name: 'better', models: ['demo-chat'] },
  ]);

describe('one bad channel of three', () => {
  test('R-09 R-10: no client notices; it is called five times, then once per ejection', async () => {
    const jump = jumpingClock();
    const gateway = await openGateway({ config: badAndTwoGood('status=500') });
    expect(await statuses(gateway, 60, 'in turn')).toEqual({ 200: 60 });
    expect(askedAt(gateway, 'id=bad')).toBe(5);

    jump(30_000);
    expect(await statuses(gateway, 60, 'together')).toEqual({ 200: 60 });
    expect(askedAt(gateway, 'id=bad')).toBe(6);
    jump(30_000);
    expect(await statuses(gateway, 60, 'together')).toEqual({ 200: 60 });
    expect(askedAt(gateway, 'id=bad')).toBe(6);
    jump(30_000);
    expect(await statuses(gateway, 60, 'together')).toEqual({ 200: 60 });
    expect(askedAt(gateway, 'id=bad')).toBe(7);
  });

  describe('with many requests in flight', () => {
    const faults = ['status=500', 'status=529;retry-after=1', 'refuse', 'html', 'close-early'];
    const cases = faults.map((fault, at) => ({ fault, model: `m${at}` }));
    const shared = shareGateway({
      config: describeChannels(
        cases.flatMap(({ fault, model }) =>
          [`/fault(delay=30;${fault};id=${model})`, '', ''].map((at, place) => ({
            name: `${model}-${place}`,
            at,
            models: [`${model} -> demo-chat`],
          })),
        ),
      ),
    });

    test.each(cases)('R-09 $fault: none is lost', async ({ model }) => {
      const { gateway } = shared;
      const asked = () => askedAt(gateway, `id=${model})`);
      expect(await statuses(gateway, 60, 'together', false, model)).toEqual({ 200: 60 });
      const before = asked();
      expect(before).toBeGreaterThan(0);
      expect(await statuses(gateway, 20, 'together', false, model)).toEqual({ 200: 20 });
      expect(asked()).toBe(before);
    });
  });

  test('R-10: it returns when the probe is answered', async () => {
    const jump = jumpingClock();
    const gateway = await openGateway({ config: badAndTwoGood('status=500;times=5') });
    expect(await statuses(gateway, 60, 'in turn')).toEqual({ 200: 60 });
    expect(askedAt(gateway, 'id=bad')).toBe(5);
    jump(30_000);
    expect(await statuses(gateway, 60, 'in turn')).toEqual({ 200: 60 });
    expect(askedAt(gateway, 'id=bad')).toBeGreaterThan(10);
  });
});

const badFirst = (fault: string) =>
  describeChannels([
    { name: 'bad', at: `/fault(${fault};id=bad)`, models: ['demo-chat'], more: ['priority: 1'] },
    { name: 'spare', models: ['demo-chat'] },
  ]);

test('R-09 R-13: streams that break after content count as failures', async () => {
  const gateway = await openGateway({ config: badFirst('cut-at=4') });
  await statuses(gateway, 5, 'in turn', true);
  const response = await ask(gateway, chat, true);
  expect(response.text).toMatch(chat.terminator);
  expect(attemptsOf(await rowOf(gateway, response.id))).toMatchObject([{ channel: 'spare' }]);
});

test('R-09: client errors do not count as failures', async () => {
  const gateway = await openGateway({ config: badFirst('status=400') });
  expect(await statuses(gateway, 10, 'in turn')).toEqual({ 400: 10 });
  expect(askedAt(gateway, 'id=bad')).toBe(10);
});

test.each([404, 403])('R-44 a %i counts for that model only', async (status) => {
  const gateway = await openGateway({
    config: describeChannels([
      {
        name: 'bad',
        at: `/fault(status=${status};times=1;id=bad)`,
        models: ['demo-chat', 'demo-reasoning'],
        more: ['priority: 1'],
      },
      { name: 'spare', models: ['demo-chat', 'demo-reasoning'] },
    ]),
  });
  expect(await statuses(gateway, 10, 'in turn')).toEqual({ 200: 10 });
  expect(askedAt(gateway, 'id=bad')).toBe(1);
  expect((await ask(gateway, chat, false, 'demo-reasoning')).status).toBe(200);
  expect(askedAt(gateway, 'id=bad')).toBe(2);
});

describe('a total outage', () => {
  test.each([1, 3])(
    'with %i channels: every request is tried, the outage is logged once, and its end is noticed at once',
    async (count) => {
      const warnings: string[] = [];
      const gateway = await openGateway({
        config: describeChannels(
          Array.from({ length: count }, (_, at) => ({ name: `c${at}`, models: ['demo-chat'] })),
        ),
        logger: { warn: (message) => void warnings.push(message) },
      });
      gateway.simulator.setFault('status=500');
      expect(await statuses(gateway, 40, 'in turn')).toEqual({ 502: 40 });
      expect(askedAt(gateway, '/chat/')).toBeGreaterThanOrEqual(40);
      const kept = /stays in use: no other channel serves 'demo-chat'/;
      expect(warnings.filter((message) => kept.test(message))).toHaveLength(1);
      expect(warnings.length).toBe(count + 1);

      gateway.simulator.setFault('');
      expect(await statuses(gateway, 10, 'in turn')).toEqual({ 200: 10 });
    },
  );

  test.each([
    ['500', (response: ServerResponse) => void response.writeHead(500).end()],
    ['409', (response: ServerResponse) => void response.writeHead(409).end()],
    ['529', (response: ServerResponse) => void response.writeHead(529).end()],
    ['no response', (response: ServerResponse) => void response.destroy()],
  ])(
    'R-08 %s: concurrent requests cause at most a quarter more upstream calls',
    async (_name, fail) => {
      const count = 240;
      const upstream = await startOwnUpstream();
      onTestFinished(() => upstream.close());
      const waiting: ServerResponse[] = [];
      upstream.answer = (_asked, response) => void waiting.push(response);
      const gateway = await openGateway({
        config: describeChannels(
          [0, 1, 2].map((at) => ({
            name: `c${at}`,
            at: `${upstream.url}/c${at}`,
            models: ['demo-chat'],
          })),
        ),
      });
      const ended: number[] = [];
      const all = Array.from({ length: count }, async () => {
        ended.push((await ask(gateway, chat, false)).status);
      });
      // All that is under way fails together, again and again until nobody tries any more: each round begins when every
      // client has its response or is tried again.
      let rounds = 0;
      while (ended.length < count) {
        await until(
          () => ended.length + waiting.length === count,
          'every request has ended or is with the upstream',
          25_000,
        );
        for (const response of waiting.splice(0)) fail(response);
        rounds += 1;
        expect(rounds).toBeLessThanOrEqual(3);
        const before = ended.length;
        await until(() => ended.length > before, 'some end', 25_000);
      }
      await Promise.all(all);
      expect(ended).not.toContain(200);
      expect(upstream.asked.length).toBeGreaterThan(count);
      expect(upstream.asked.length).toBeLessThanOrEqual(count * 1.25);
    },
    60_000,
  );
});

test('R-06: no wait is announced while another credential of the channel is good', async () => {
  const gateway = await openGateway({
    config: describeChannels([
      {
        name: 'two-keys',
        at: '/fault(status=429;retry-after=50;times=1)',
        models: ['demo-chat'],
        more: ['api_keys: [one, two]'],
      },
    ]),
  });
  const first = await ask(gateway, chat, false);
  expect([first.status, first.headers.get('retry-after')]).toEqual([429, '1']);
  expect(await statuses(gateway, 4, 'in turn')).toEqual({ 200: 4 });
});

test('a refused credential is probed if another channel can answer, and returns', async () => {
  const jump = jumpingClock();
  const gateway = await openGateway({ config: badFirst('status=401;times=2') });
  expect(await statuses(gateway, 10, 'in turn')).toEqual({ 200: 10 });
  expect(askedAt(gateway, 'id=bad')).toBe(1);
  jump(60_000);
  expect(await statuses(gateway, 10, 'together')).toEqual({ 200: 10 });
  expect(askedAt(gateway, 'id=bad')).toBe(2);
  jump(120_000);
  expect(await statuses(gateway, 10, 'in turn')).toEqual({ 200: 10 });
  expect(askedAt(gateway, 'id=bad')).toBe(12);
});
