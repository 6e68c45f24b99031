import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Settings } from './bench.ts';
import { protocols, type Protocol } from './prepared-responses.ts';
import { drivingCore } from './processes.ts';
import { formatTable, judge } from './report.ts';
import { rows, temporaryDirectory, usualRows, warmUp } from './rows.ts';
import {
  startTarget,
  startUpstream,
  targetNames,
  usualTargets,
  type TargetName,
} from './targets.ts';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: usualRows.join(',') },
    targets: { type: 'string', default: usualTargets.join(',') },
    rounds: { type: 'string', default: '5' },
    protocol: { type: 'string', default: 'chat' },
    rate: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(
    `npm run bench -- [options]
  --rows ${Object.keys(rows).join(',')} (all but usage)
  --targets ${targetNames.join(',')} (all but copy)
  --rounds 5         how often each row is measured on each target, alternately
  --protocol chat    of the streamed rows: ${protocols.join(', ')}
  --rate N           streams per second of the delays (half of what the last target can do)
  --json             writes bench/results/<time>.json too
`,
  );
  process.exit();
}
if (process.platform !== 'linux') throw new Error('the bench reads /proc: it runs on Linux only');

const settings: Settings = {
  rounds: Number(values.rounds),
  targets: chosen(values.targets, targetNames) as TargetName[],
  protocol: chosen(values.protocol, protocols)[0] as Protocol,
  rate: values.rate === undefined ? null : Number(values.rate),
  progress: (text) => process.stderr.write(`${text}\n`),
};
const wantedRows = chosen(values.rows, Object.keys(rows));

execFileSync('taskset', ['-a', '-cp', String(drivingCore), String(process.pid)]);
const upstream = await startUpstream();
const targets = [];
for (const name of settings.targets) {
  targets.push(await startTarget[name](upstream.port, temporaryDirectory()));
}
const bench = { settings, upstream, targets };
await warmUp(bench);
const results = [];
for (const name of wantedRows) {
  settings.progress(`— ${name}`);
  results.push(...((await rows[name]?.(bench)) ?? []).map(judge));
}
await Promise.all([...targets, upstream].map((target) => target.stop()));

process.stdout.write(`${formatTable(results, settings.targets)}\n`);
if (values.json) {
  const directory = path.join(import.meta.dirname, 'results');
  mkdirSync(directory, { recursive: true });
  const file = path.join(directory, `${new Date().toISOString().replaceAll(':', '-')}.json`);
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version };
  writeFileSync(file, `${JSON.stringify({ machine, settings, results }, null, 2)}\n`);
  settings.progress(`written to ${path.relative(process.cwd(), file)}`);
}
process.exit(results.some(({ held }) => held === false) ? 1 : 0);

function chosen(list: string, known: readonly string[]): string[] {
  const names = list.split(',');
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new Error(`unknown: ${unknown.join(', ')}; known: ${known.join(', ')}`);
  return known.filter((name) => names.includes(name));
}
