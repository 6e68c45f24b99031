import { expect, test } from 'vitest';
import { balanceOf, nanoOf } from '../money/books.ts';
import { ask, attemptsOf, describeChannels, rowOf, shareGateway } from './support.ts';
import { answeredText, eachCall } from './text-protocols.ts';

const modelOf = (name: string): string => name.replace(' ', '-');
const failingMs = 60;

const shared = shareGateway({
  config: describeChannels(
    eachCall
      .map(({ name }) => modelOf(name))
      .flatMap((model) =>
        ['first', 'second', 'third'].map((place, index) => ({
          name: `${place}-${model}`,
          ...(place !== 'third' && { at: `/fault(delay=${failingMs};status=500)` }),
          models: [`${model} -> demo-chat`],
          more: [`priority: ${9 - index}`],
        })),
      ),
  ),
});

test.each(eachCall)(
  'R-05 $name: 500, 500, 200 are three attempts, one response and one charge',
  async ({ protocol, stream, name }) => {
    const { gateway } = shared;
    const model = modelOf(name);
    gateway.simulator.clear();
    const before = await balanceOf(gateway, 'tester@example.com');
    const response = await ask(gateway, protocol, stream, model);
    expect(response.status).toBe(200);
    expect(stream ? protocol.terminator.test(response.text) : answeredText(response.text)).toBe(
      true,
    );
    expect(gateway.simulator.requests().map(({ status }) => status)).toEqual([500, 500, 200]);

    const row = await rowOf(gateway, response.id);
    expect(attemptsOf(row)).toEqual([
      { channel: `first-${model}`, class: 'started', status: 500, result: 'abnormal' },
      { channel: `second-${model}`, class: 'started', status: 500, result: 'abnormal' },
      { channel: `third-${model}`, class: 'shown', status: 200, result: 'completed' },
    ]);
    // Two tokens in and 21 out, once, at 1 and 2 USD a million.
    expect(row).toMatchObject({ tokens: { input: 2, output: 21 }, cost: '0.000044' });
    expect(before - (await balanceOf(gateway, 'tester@example.com'))).toBe(nanoOf(row.cost));

    const arrived = Date.parse(row.time);
    // Begins are of the wall clock and lengths of the monotonic one, each rounded.
    const rounding = 3;
    let end = arrived;
    for (const { started_at, duration_ms: durationMs, result } of row.attempts) {
      const startedAt = Date.parse(started_at);
      expect(Number.isInteger(startedAt) && Number.isInteger(durationMs)).toBe(true);
      expect(startedAt).toBeGreaterThanOrEqual(end - rounding);
      expect(durationMs).toBeGreaterThanOrEqual(result === 'completed' ? 0 : failingMs - rounding);
      end = startedAt + durationMs;
    }
    expect(end).toBeLessThanOrEqual(arrived + row.duration_ms + rounding);
  },
);
