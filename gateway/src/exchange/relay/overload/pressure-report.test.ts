import { expect, test } from 'vitest';
import { createPressureReport, createRefusalReport } from './pressure.ts';

test('pressure is logged when it begins and when it has been over for ten seconds, not with every sample', () => {
  const lines: unknown[] = [];
  const refused = { lag: 5, memory: 0 };
  const log = {
    warn: (message: string, fields: unknown) => lines.push(['warn', message.split(':')[0], fields]),
    info: (message: string, fields: unknown) => lines.push(['info', message, fields]),
  };
  const report = createPressureReport(log, refused);
  const component = 'admission';

  report([], 0);
  report(['lag'], 1_000);
  report(['lag'], 1_500);
  refused.lag += 7;
  // It comes and goes.
  report([], 2_000);
  report(['lag', 'memory'], 9_000);
  report(['memory'], 18_999);
  expect(lines).toEqual([
    ['warn', 'overloaded', { component, detail: 'lag' }],
    ['warn', 'overloaded', { component, detail: 'memory' }],
  ]);

  report(['memory'], 19_000);
  report([], 19_500);
  const over = { component, detail: 'lag', durationMs: 8_000, count: 7 };
  expect(lines.slice(2)).toEqual([['info', 'no longer overloaded', over]]);

  report([], 29_000);
  report(['lag'], 29_500);
  expect(lines.slice(3)).toEqual([
    ['info', 'no longer overloaded', { component, detail: 'memory', durationMs: 10_000, count: 0 }],
    ['warn', 'overloaded', { component, detail: 'lag' }],
  ]);
});

test('a reason to refuse all requests is logged with its name, and when it has been over for ten seconds', () => {
  const lines: unknown[] = [];
  const note = (message: string, fields: unknown) => void lines.push([message, fields]);
  const report = createRefusalReport({ warn: note, info: note });
  const component = 'admission';
  report(['journal'], 0);
  report(['leases'], 500);
  report([], 1_000);
  report([], 10_500);
  expect(lines).toEqual([
    [
      'refusing all requests that cost something: their usage cannot be written',
      { component, detail: 'journal' },
    ],
    [
      'refusing all requests that cost something: the database leases no money, and no lease is left',
      { component, detail: 'leases' },
    ],
    [
      'admitting requests that cost something again',
      { component, detail: 'journal', durationMs: 0 },
    ],
    [
      'admitting requests that cost something again',
      { component, detail: 'leases', durationMs: 0 },
    ],
  ]);
});
