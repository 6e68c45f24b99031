import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openGateway, ask } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { alerts } from '../monitoring/alerts.ts';
import { expressions, files, ruleTests, rules } from '../monitoring/files.ts';
import { scrape } from './support.ts';

const run = promisify(execFile);
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
if (!hasPromtool && process.env['CI'] !== undefined) throw new Error('promtool is not installed');
const reason = hasPromtool
  ? ''
  : ' (skipped: promtool is not installed; it is in the package prometheus)';

/** What promtool finds wrong in a file; empty: nothing. */
async function problems(...words: string[]): Promise<string> {
  try {
    await run('promtool', words);
    return '';
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return stdout + stderr;
  }
}

function writeFolder(content: Readonly<Record<string, object | string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-rules-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, value] of Object.entries(content)) {
    // JSON is YAML.
    writeFileSync(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value));
  }
  return folder;
}

describe.skipIf(!hasPromtool)(`promtool${reason}`, () => {
  test('each alert fires when it should, and not otherwise', async () => {
    expect(await problems('test', 'rules', files.ruleTests)).toBe('');
  });

  test('an alert that fires at the wrong time is seen', async () => {
    const { tests, ...rest } = ruleTests;
    // Each alert with the series of its other example.
    const swapped = tests.map((each, index) => ({
      ...each,
      input_series: tests[index ^ 1]!.input_series,
    }));
    const folder = writeFolder({
      'rules.yaml': rules,
      'rules-test.yaml': { ...rest, tests: swapped },
    });
    const found = await problems('test', 'rules', join(folder, 'rules-test.yaml'));
    const failed = Array.from(found.matchAll(/^ *alertname: (\w+)/gm), ([, name]) => name);
    expect(new Set(failed)).toEqual(new Set(alerts.map(({ name }) => name)));
  });

  test('every expression of the dashboard can be evaluated', async () => {
    const recorded = expressions.map(([, expr], index) => ({
      record: `panel_${index}`,
      expr: expr.replaceAll(/\$__(rate_interval|range)/g, '1m').replaceAll(/\$\w+/g, '.*'),
    }));
    const folder = writeFolder({ 'panels.yaml': { groups: [{ name: 'p', rules: recorded }] } });
    expect(await problems('check', 'rules', join(folder, 'panels.yaml'))).toBe('');
  });

  test('the metrics have the names and texts that Prometheus asks for', async () => {
    const gateway = await openGateway();
    await ask(gateway, textProtocols[0]!, true);
    const input = await scrape(gateway.url);
    const { stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
    expect(stderr).toBe('');
  });
});
