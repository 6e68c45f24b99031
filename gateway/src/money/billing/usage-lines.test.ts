import { describe, expect, it } from 'vitest';
import { chargeOf } from './cost.ts';
import { judgeUsage } from './usage-lines.ts';

const none = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 };
const model = { contextWindow: 100_000, maxOutputTokens: 20_000 };
const judge = (tokens: object, implausible = false, choices?: number) =>
  judgeUsage({ tokens: { ...none, ...tokens }, implausible }, model, choices);

describe('S-39: usage that is not to be believed', () => {
  it('is what was no count at all', () => {
    expect(judge({ input: 1 }, true)).toBe('quarantined');
    expect(judge({ input: 1 })).toBe('reported');
  });

  it('is more than 1.2 times what the model can take and give, whatever it is made of', () => {
    expect(judge({ input: 100_000, output: 44_000 })).toBe('reported');
    expect(judge({ input: 100_000, output: 44_001 })).toBe('quarantined');
    expect(judge({ cacheRead: 100_000, cacheWrite: 44_000, cacheWrite1h: 1 })).toBe('quarantined');
    expect(judge({ input: Number.MAX_SAFE_INTEGER, output: Number.MAX_SAFE_INTEGER })).toBe(
      'quarantined',
    );
  });

  it('counts reasoning once', () => {
    expect(judge({ output: 100_000, reasoning: 100_000 })).toBe('reported');
  });

  it('leaves room for every response asked for', () => {
    expect(judge({ input: 100_000, output: 80_000 })).toBe('quarantined');
    expect(judge({ input: 100_000, output: 80_000 }, false, 4)).toBe('reported');
    expect(judge({ output: 144_001 }, false, -5)).toBe('quarantined');
    expect(judge({ output: 144_001 }, false, Number.NaN)).toBe('quarantined');
    expect(judge({ output: 2 ** 50 }, false, 1e308)).toBe('quarantined');
  });

  it('has a bound for a model that does not say its window', () => {
    const open = { contextWindow: null, maxOutputTokens: null };
    const usage = (input: number) => ({ tokens: { ...none, input }, implausible: false });
    expect(judgeUsage(usage(10_000_000), open)).toBe('reported');
    expect(judgeUsage(usage(2_000_000_000), open)).toBe('quarantined');
  });

  it('charges no more than the hold, and nobody less than nothing', () => {
    expect(chargeOf(500n, 30n, 'quarantined')).toBe(30n);
    expect(chargeOf(20n, 30n, 'quarantined')).toBe(20n);
    expect(chargeOf(0n, 30n, 'quarantined')).toBe(0n);
  });
});

it('an estimate stays within the hold; what was reported may exceed it', () => {
  expect(chargeOf(500n, 30n, 'estimated')).toBe(30n);
  expect(chargeOf(500n, 30n, 'reported')).toBe(500n);
});
