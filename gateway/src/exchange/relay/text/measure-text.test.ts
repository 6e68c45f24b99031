import { describe, expect, it } from 'vitest';
import { noTokens, type ReportedUsage } from '#canonical/index.ts';
import { mergeReports } from '#protocols/index.ts';
import { withHiddenReasoning } from './measure-text.ts';

const report = (
  input: number,
  output: number,
  more: Partial<ReportedUsage> = {},
): ReportedUsage => ({
  tokens: { ...noTokens, input, output },
  implausible: false,
  ...more,
});

describe('reasoning that only the total contains', () => {
  const prepared = (maxOutputTokens: number | null, choices = 1, limit: number | null = null) =>
    ({
      request: { maxOutputTokens, choices },
      model: { maxOutputTokens: limit },
    }) as Parameters<typeof withHiddenReasoning>[1];
  const google = { hidesReasoningInTotal: true };
  const total = report(100, 50, { unnamed: 99_849 });
  const outputOf = (...asked: Parameters<typeof prepared>) =>
    withHiddenReasoning(total, prepared(...asked), google)?.tokens.output;

  it('counts where the vendor documents it, as far as the output limit allows', () => {
    expect(outputOf(1_000)).toBe(1_000);
    expect(outputOf(1_000, 2)).toBe(2_000);
    expect(outputOf(null, 1, 8_000)).toBe(8_000);
    expect(outputOf(null)).toBe(16_384);
    expect(outputOf(200_000)).toBe(99_899);
    expect(outputOf(10)).toBe(50);
    const { tokens } = withHiddenReasoning(report(66, 6, { unnamed: 28 }), prepared(null), google)!;
    expect(tokens).toMatchObject({ input: 66, output: 34, reasoning: 28 });
  });

  it('counts nowhere else', () => {
    for (const sent of [null, { hidesReasoningInTotal: false }]) {
      expect(withHiddenReasoning(total, prepared(1_000), sent)).toBe(total);
    }
    const plain = report(1, 2);
    expect(withHiddenReasoning(plain, prepared(1_000), google)).toBe(plain);
  });
});

describe('two reports of one response', () => {
  it('the later one, if neither side is smaller', () => {
    expect(mergeReports(report(100, 5), report(100, 50))).toEqual(report(100, 50));
    expect(mergeReports(null, report(1, 2))).toEqual(report(1, 2));
    expect(mergeReports(report(1, 2), null)).toEqual(report(1, 2));
  });

  it('the larger of each side, doubtful', () => {
    expect(mergeReports(report(100, 50), report(0, 60))).toEqual(
      report(100, 60, { isDoubtful: true }),
    );
    const later = { ...report(90, 10), implausible: true };
    expect(mergeReports(report(100, 50), later)).toEqual({
      ...report(100, 50, { isDoubtful: true }),
      implausible: true,
    });
  });

  it('the side that one of them lacks is that of the other', () => {
    const later = report(9, 0, { missingSide: 'output' });
    expect(mergeReports(report(9, 93), later)).toEqual(report(9, 93));
    expect(mergeReports(later, report(9, 93))).toEqual(report(9, 93));
    expect(mergeReports(later, later)).toEqual(later);
  });

  it('what is only announced is replaced, unless the rest is contradicted too', () => {
    const announced = report(100, 8, { missingSide: 'output' });
    expect(mergeReports(announced, report(100, 3))).toEqual(report(100, 3));
    expect(mergeReports(announced, report(0, 0))).toEqual(report(100, 8, { isDoubtful: true }));
    const told = report(100, 50, { missingSide: 'output' });
    expect(mergeReports(told, report(100, 0))).toEqual(report(100, 50, { isDoubtful: true }));
  });

  it('tokens that turn out to be from a cache are not a smaller report', () => {
    const cached = {
      ...report(10, 50),
      tokens: { ...noTokens, input: 10, cacheRead: 90, output: 50 },
    };
    expect(mergeReports(report(100, 50), cached)).toEqual(cached);
  });
});
