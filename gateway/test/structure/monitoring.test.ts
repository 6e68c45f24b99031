import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { alerts } from '../monitoring/alerts.ts';
import { dashboard, files, rules, ruleTests, withAlerts } from '../monitoring/files.ts';

/* `npm run monitoring` writes these files. They are compared as data, because a formatter has its own lines. */

const read = (file: string): string => readFileSync(file, 'utf8');

test('the rules of Prometheus and their tests are those of the table', () => {
  expect(parse(read(files.rules))).toEqual(rules);
  expect(parse(read(files.ruleTests))).toEqual(ruleTests);
});

test('the dashboard is the one of the table', () => {
  expect(JSON.parse(read(files.dashboard))).toEqual(dashboard);
});

test('the page has the alerts of the table', () => {
  // The formatter aligns the cells.
  const loose = (page: string): string =>
    page.replaceAll(/ +|-{3,}/g, ' ').replaceAll(/\n+/g, '\n');
  const page = read(files.page);
  expect(loose(page)).toBe(loose(withAlerts(page)));
});

test('alerts have different names and one sentence each', () => {
  expect(new Set(alerts.map(({ name }) => name)).size).toBe(alerts.length);
  for (const { name, summary } of alerts)
    expect([name, summary]).toEqual([name, expect.stringMatching(/^[A-Z].*\.$/)]);
});
