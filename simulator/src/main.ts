#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { startSimulator, type SimulatorOptions } from './server.ts';

const help = `Usage: sluice-simulator [options]

Answers like a model vendor without a model: text in four protocols, embeddings,
pictures, video tasks.

  --host HOST          address to listen on (default 127.0.0.1)
  --port PORT          port to listen on (default 0: any free port)
  --gap MS             pause between stream events (default 0)
  --recordings FOLDER  recorded exchanges to replay (default $SIMULATOR_RECORDINGS)
  --no-log             keep no request for /__requests
  --tasks FILE         keep video tasks there, so that they outlive this process
  --exit-with-parent   exit when standard input closes
  --json               print the ready line as JSON
  --help               show this text
`;

/** Exit codes: 0 done, 1 failed, 2 usage. */
async function main(): Promise<void> {
  const flags = readFlags();
  if (flags === undefined) return;
  const { host, recordings, tasks } = flags;
  const simulator = await startSimulator({
    ...(host !== undefined && { host }),
    ...(recordings !== undefined && { recordings }),
    ...(tasks !== undefined && { tasks }),
    ...(flags['no-log'] === true && { keptRequests: 0 }),
    port: Number(flags.port ?? 0),
    gap: Number(flags.gap ?? 0),
  } satisfies SimulatorOptions);
  const stop = () => {
    void simulator.close().finally(() => process.exit(0));
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  if (flags['exit-with-parent']) {
    process.stdin.once('end', stop).once('close', stop).once('error', stop);
    process.stdin.resume();
  }
  const ready = flags.json
    ? JSON.stringify({ url: simulator.url, port: simulator.port })
    : `sluice-simulator listening on ${simulator.url}`;
  process.stdout.write(`${ready}\n`);
}

function readFlags() {
  try {
    const { values } = parseArgs({
      options: {
        host: { type: 'string' },
        port: { type: 'string' },
        gap: { type: 'string' },
        recordings: { type: 'string' },
        'no-log': { type: 'boolean' },
        tasks: { type: 'string' },
        'exit-with-parent': { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
    for (const name of ['port', 'gap'] as const) {
      if (!/^\d{1,5}$/.test(values[name] ?? '0')) throw new Error(`--${name} takes a whole number`);
    }
    if (!values.help) return values;
    process.stdout.write(help);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
    process.exitCode = 2;
  }
  return undefined;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
