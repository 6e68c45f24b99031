import type { LookupAddress } from 'node:dns';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createNameCache } from './name-cache.ts';

const address = (value: string): LookupAddress => ({ address: value, family: 4 });

function setUp() {
  let now = 0;
  const questions: ((error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void)[] = [];
  const lookup = createNameCache({
    resolve: (_name, answer) => void questions.push(answer),
    monotonic: () => now,
  });
  return {
    questions,
    later: (milliseconds: number) => void (now += milliseconds),
    look: (all = true) => {
      const seen: unknown[] = [];
      lookup('upstream.test', { all }, (...result) => void seen.push(...result));
      return seen;
    },
  };
}

const failure = Object.assign(new Error('SERVFAIL'), { code: 'EAI_AGAIN' });

describe('R-37 names of upstreams', () => {
  test('are resolved once in half a minute, and then again', () => {
    const { questions, later, look } = setUp();
    const [first, second] = [look(), look()];
    expect(questions).toHaveLength(1);
    questions[0]?.(null, [address('192.0.2.1')]);
    expect(first).toEqual([null, [address('192.0.2.1')]]);
    expect(second).toEqual(first);
    later(29_999);
    expect(look(false)).toEqual([null, '192.0.2.1', 4]);
    expect(questions).toHaveLength(1);
    later(1);
    const third = look();
    questions[1]?.(null, [address('192.0.2.2')]);
    expect(third).toEqual([null, [address('192.0.2.2')]]);
  });

  test('keep their addresses for ten minutes while the resolver fails', () => {
    const { questions, later, look } = setUp();
    look();
    questions[0]?.(null, [address('192.0.2.1')]);
    later(10 * 60_000 - 1);
    const stale = look();
    questions[1]?.(failure, []);
    expect(stale).toEqual([null, [address('192.0.2.1')]]);
    later(1);
    const gone = look();
    questions[2]?.(failure, []);
    expect(gone).toEqual([failure, '', 0]);
  });

  test('keep their addresses while the resolver is silent, and nobody waits long', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { questions, later, look } = setUp();
    look();
    questions[0]?.(null, [address('192.0.2.1')]);
    later(30_000);
    const waiting = look();
    expect(waiting).toEqual([]);
    vi.advanceTimersByTime(500);
    expect(waiting).toEqual([null, [address('192.0.2.1')]]);
    // While that question is out the next one does not wait at all, and does not ask.
    expect(look()).toEqual(waiting);
    expect(questions).toHaveLength(2);
    later(10 * 60_000);
    const tooLate = look();
    vi.advanceTimersByTime(500);
    expect(tooLate).toEqual([]);
    questions[1]?.(null, [address('192.0.2.2')]);
    expect(tooLate).toEqual([null, [address('192.0.2.2')]]);
    later(30_000);
    expect(look()).toEqual([]);
    expect(questions).toHaveLength(3);
  });

  test('are resolved again at once after a failure', () => {
    const { questions, look } = setUp();
    const first = look();
    questions[0]?.(failure, []);
    expect(first).toEqual([failure, '', 0]);
    const second = look();
    questions[1]?.(null, [address('192.0.2.1')]);
    expect(second).toEqual([null, [address('192.0.2.1')]]);
  });

  test('without any address are not found', () => {
    const { questions, look } = setUp();
    const seen = look();
    questions[0]?.(null, []);
    expect(seen[0]).toMatchObject({ code: 'ENOTFOUND' });
  });
});
