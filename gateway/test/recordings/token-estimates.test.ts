import { describe, expect, it } from 'vitest';
import { absence, recordings } from './recordings.ts';
import { compareAll, errorsOf, type Comparison } from './token-estimates.ts';

/** The table of docs/token-estimates.md: shares in per cent. `SLUICE_PRINT_ESTIMATES=1` prints it. */
const bounds: Readonly<Record<string, { median: number; under: number }>> = {
  openai: { median: 13, under: 8 },
  'gpt-oss': { median: 10, under: 0 },
  anthropic: { median: 13, under: 8 },
  gemini: { median: 25, under: 5 },
  grok: { median: 15, under: 0 },
  deepseek: { median: 12, under: 30 },
  other: { median: 60, under: 14 },
};

const all = compareAll(recordings);
const families = Map.groupBy(all, ({ family }) => family);
const percent = (share: number) => Math.round(share * 100);

describe.skipIf(absence !== null)(`estimates and recorded counts ${absence ?? ''}`, () => {
  it('are compared for many requests of every family', () => {
    expect(all.length).toBeGreaterThan(250);
    expect([...families.keys()].toSorted()).toEqual(Object.keys(bounds).toSorted());
  });

  it.each(Object.entries(bounds))('%s', (family, { median, under }) => {
    const errors = errorsOf(families.get(family) ?? []);
    expect(percent(errors.median)).toBeLessThanOrEqual(median);
    expect(percent(errors.under)).toBeLessThanOrEqual(under);
  });

  it('are within a tenth for half of the requests that are not tiny', () => {
    const larger = all.filter(({ reported }) => reported >= 300);
    expect(larger.length).toBeGreaterThan(50);
    expect(errorsOf(larger).median).toBeLessThanOrEqual(0.1);
    expect(errorsOf(all).medianTokens).toBeLessThanOrEqual(15);
    expect(errorsOf(all).under).toBeLessThanOrEqual(0.06);
  });

  // eslint-disable-next-line vitest/expect-expect -- prints the table of the documentation
  it.runIf(process.env['SLUICE_PRINT_ESTIMATES'] === '1')('as a table', () => {
    const rows: (readonly [string, readonly Comparison[]])[] = [
      ...families,
      ['all', all],
      ['all of 300 tokens and more', all.filter(({ reported }) => reported >= 300)],
    ];
    console.log(rows.map(([name, list]) => rowOf(name, list)).join('\n'));
  });
});

function rowOf(name: string, list: readonly Comparison[]): string {
  const { requests, median, p90, medianTokens, under } = errorsOf(list);
  const worst = Math.max(...list.map((each) => Math.abs(each.estimated / each.reported - 1)));
  const shares = [median, p90, worst, under].map((share) => `${percent(share)} %`);
  return `| ${name} | ${requests} | ${medianTokens} | ${shares.join(' | ')} |`;
}
