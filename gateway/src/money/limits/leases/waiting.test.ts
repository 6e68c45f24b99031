import { expect, it } from 'vitest';
import { createRefusals } from './refusals.ts';
import { createWaiting } from './waiting.ts';

const now = () => 0;
const rules = { patienceMs: 250, longestMs: 2_000, askAgainMs: 50, wantsPerCommand: 64 };

it('many requests for one balance do not keep those for others waiting', () => {
  const waiting = createWaiting({
    refusals: createRefusals(now),
    monotonic: now,
    rules,
  });
  const add = (id: string, payer: string): void => {
    const meters = [{ name: `user:${payer}:balance`, limit: 1n, floor: 1n }];
    const request = { id, amount: 1n, meters, expiresAt: Infinity };
    void waiting.add({ ...request, isLast: false, isExact: false }, request);
  };
  for (let at = 0; at < 1_000; at += 1) add(`many-${at}`, 'many');
  for (let at = 0; at < 10; at += 1) add(`few-${at}`, 'few');
  const due = waiting.dueWants().map(({ id }) => id);
  expect(due).toHaveLength(rules.wantsPerCommand);
  expect(due.filter((id) => id.startsWith('few'))).toHaveLength(10);
  // Each in the order in which they came.
  expect(due.filter((id) => id.startsWith('many'))).toEqual(
    Array.from({ length: 54 }, (_, at) => `many-${at}`),
  );
});
