#!/usr/bin/env node
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { runLoad, type LoadOptions } from './load/run-load.ts';
import type { LoadSummary } from './load/summary.ts';

const help = `Usage: node simulator/src/load.ts --url URL [options]

  --url URL            address to load
  --method METHOD      default POST
  --header 'k: v'      may be given several times
  --body TEXT          body of every request
  --body-file FILE     the same from a file; several files are used in turn
  --connections N      default 10
  --duration SECONDS   default 10, unless --requests is given
  --requests N         stop after this many
  --rate N             requests per second, started on time whatever the responses do
  --stream             responses are streams: measure events, expect a terminator
  --json               print the whole summary as JSON
  --help               show this text
`;

/** Exit codes: 0 all requests completed, 1 some did not, 2 usage. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      url: { type: 'string' },
      method: { type: 'string' },
      header: { type: 'string', multiple: true },
      body: { type: 'string' },
      'body-file': { type: 'string', multiple: true },
      connections: { type: 'string' },
      duration: { type: 'string' },
      requests: { type: 'string' },
      rate: { type: 'string' },
      stream: { type: 'boolean' },
      json: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    return;
  }
  if (values.url === undefined) throw new TypeError('--url is missing');
  const files = values['body-file'] ?? [];
  const bodies = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const requests = wholeNumber('--requests', values.requests);
  const rate = wholeNumber('--rate', values.rate);
  const duration = wholeNumber('--duration', values.duration) ?? (requests ? undefined : 10);
  const summary = await runLoad({
    url: values.url,
    method: values.method ?? 'POST',
    headers: Object.fromEntries((values.header ?? []).map(splitHeader)),
    bodies: bodies.length > 0 ? bodies : [values.body ?? ''],
    connections: wholeNumber('--connections', values.connections) ?? 10,
    stream: values.stream === true,
    ...(requests !== undefined && { requests }),
    ...(duration !== undefined && { durationMs: duration * 1000 }),
    ...(rate !== undefined && { rate }),
  } satisfies LoadOptions);
  process.stdout.write(values.json ? `${JSON.stringify(summary)}\n` : format(summary));
  if (summary.completed < summary.requests) process.exitCode = 1;
}

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new TypeError(`${name} takes a whole number`);
  return Number(text);
}

function splitHeader(header: string): [string, string] {
  const at = header.indexOf(':');
  if (at < 1) throw new TypeError(`--header takes 'name: value', not '${header}'`);
  return [header.slice(0, at).trim(), header.slice(at + 1).trim()];
}

function format(summary: LoadSummary): string {
  const rows = (['timeToFirstByte', 'timeToFirstEvent', 'gap', 'duration'] as const).map((name) => {
    const { p50, p90, p99, max } = summary[name];
    const columns = [p50, p90, p99, max].map((value) => value.toFixed(2).padStart(10));
    return `${name.padEnd(18)}${columns.join('')}`;
  });
  return `${[
    `${summary.completed} of ${summary.requests} completed in ${summary.seconds.toFixed(1)} s, ${summary.requestsPerSecond.toFixed(0)} requests/s`,
    `statuses ${JSON.stringify(summary.statuses)}, failures ${JSON.stringify(summary.failures)}`,
    `${'milliseconds'.padEnd(18)}${['p50', 'p90', 'p99', 'max'].map((name) => name.padStart(10)).join('')}`,
    ...rows,
  ].join('\n')}\n`;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
  process.exitCode = 2;
});
