import { expect, test } from 'vitest';
import { formatTable, judge } from './report.ts';
import { percentile } from './statistics.ts';

test('a bound relative to nginx or bare Node is judged by the ratio, an absolute one by the value', () => {
  const relative = { title: 'cpu', unit: 'µs', bound: { timesNginx: 4 } } as const;
  const beside = { title: 'cpu', unit: 'µs', bound: { timesBaseline: 3 } } as const;
  expect(judge({ ...beside, values: { nginx: 1, baseline: 10, gateway: 30 } }).held).toBe(true);
  expect(judge({ ...beside, values: { nginx: 1, baseline: 10, gateway: 31 } }).held).toBe(false);
  const absolute = { title: 'memory', unit: 'KiB', bound: { atMost: 32 } } as const;
  expect(judge({ ...relative, values: { nginx: 10, gateway: 40 } }).held).toBe(true);
  expect(judge({ ...relative, values: { nginx: 10, gateway: 41 } }).held).toBe(false);
  expect(judge({ ...absolute, values: { nginx: 10, gateway: 33 } }).held).toBe(false);
  expect(judge({ ...absolute, values: { nginx: 10 } }).held).toBeNull();
  expect(judge({ ...absolute, values: { gateway: 33 }, unsure: true }).held).toBeNull();
});

test('the table shows every target and what became of the bound', () => {
  const row = { title: 'cpu', unit: 'µs', bound: { timesNginx: 1.5 } } as const;
  const table = formatTable(
    [judge({ ...row, values: { nginx: 100, gateway: 200 } })],
    ['nginx', 'gateway'],
  );
  const cells = table
    .split('\n')
    .at(-1)
    ?.split('|')
    .map((cell) => cell.trim());
  expect(cells).toEqual(['', 'cpu, µs', '100', '200', '2.00', '≤ 1.5 × nginx', 'MISSED', '']);
});

test('percentiles are by nearest rank', () => {
  const samples = [5, 1, 4, 2, 3];
  expect([0, 0.5, 0.99, 1].map((at) => percentile(samples, at))).toEqual([1, 3, 5, 5]);
  expect(percentile([], 0.5)).toBeNaN();
});
