import { describe, expect, test } from 'vitest';
import { maxDepth, notJson, skipValue, tooComplex } from './skip.ts';

const skip = (text: string, depth = 0): number => skipValue(Buffer.from(text), 0, depth);
const numbers = (count: number): string => Array(count).fill('-0.0123456789e-7').join(', ');

describe('a list of numbers', () => {
  test.each([1, 3, 4, 5, 1536])('of %i is skipped to its end', (count) => {
    const text = `[${numbers(count)}]`;
    expect(skip(`${text},"behind"]`)).toBe(text.length);
    const inside = `{"a":[{"v":${text},"b":"]"},{"v":${text}}],"c":1}`;
    expect(skip(`${inside}]]`)).toBe(inside.length);
  });

  test('that holds something else is walked', () => {
    for (const other of ['"]"', '[1]', '{"]":1}', 'null', '[]', '"a"', '{}', `[${numbers(10)}]`]) {
      const text = `[${numbers(9)},${other},${numbers(9)}]`;
      expect(skip(`${text}]`), other).toBe(text.length);
    }
  });

  test('longer than any vector is walked', () => {
    const text = `[${numbers(100_000)}]`;
    expect(text.length).toBeGreaterThan(1024 * 1024);
    expect(skip(`${text}]`)).toBe(text.length);
  });

  test('without an end is no JSON', () => {
    expect(skip(`[${numbers(100)}`)).toBe(notJson);
    expect(skip(`[${numbers(100)}}`)).toBe(notJson);
    expect(skip(`[[${numbers(100)}]`)).toBe(notJson);
  });

  test('counts as a level', () => {
    const text = `[${numbers(100)}]`;
    const nested = (levels: number) => `${'['.repeat(levels)}${text}${']'.repeat(levels)}`;
    expect(skip(nested(maxDepth - 1))).toBe(nested(maxDepth - 1).length);
    expect(skip(nested(maxDepth))).toBe(tooComplex);
  });

  test('is counted where a budget is drawn from', () => {
    const budget = { members: 10, values: 50 };
    const list = (count: number) => Buffer.from(`[${numbers(count)}]`);
    expect(skipValue(list(40), 0, 0, budget)).toBe(list(40).length);
    expect(budget.values).toBe(10);
    expect(skipValue(list(40), 0, 0, budget)).toBe(tooComplex);
  });
});
