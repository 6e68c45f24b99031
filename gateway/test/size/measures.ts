import { readdirSync, readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startTestGateway } from '../support/gateway.ts';

const sources = path.resolve(import.meta.dirname, '../../src');

/** A file with the text of a protocol's name, outside these places, knows what only the protocol should know. */
const homes = ['wire/protocols/generate-content/', 'base/canonical/', 'edge/endpoints/'];

export interface SourceSize {
  readonly files: number;
  readonly lines: number;
  /** Files of at most 20 lines. */
  readonly splinters: number;
  /** Relative to `src`: those that name `'generate-content'` outside its homes. */
  readonly strangers: readonly string[];
}

/** Of everything in `gateway/src` that is not a test. */
export function sizeOfSources(): SourceSize {
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[jt]s$/.test(name) && !name.endsWith('.test.ts'))
    .map((name) => ({ name, text: readFileSync(path.join(sources, name), 'utf8') }));
  const lines = files.map(({ text }) => text.split('\n').length - 1);
  return {
    files: files.length,
    lines: lines.reduce((sum, each) => sum + each, 0),
    splinters: lines.filter((each) => each <= 20).length,
    strangers: files
      .filter(({ name, text }) => {
        return text.includes("'generate-content'") && !homes.some((home) => name.startsWith(home));
      })
      .map(({ name }) => name),
  };
}

/** What runs for one request, in this thread. */
export interface Run {
  readonly name: string;
  /** Named functions of `gateway/src` that were called: the file, and the line each begins with. */
  readonly functions: readonly { readonly file: string; readonly line: string }[];
  readonly files: number;
}

const hello = [{ role: 'user', content: 'Hello' }];

const requests: readonly { name: string; path: string; body: object }[] = [
  {
    name: 'a warm plain chat',
    path: '/v1/chat/completions',
    body: { model: 'demo-chat', messages: hello },
  },
  {
    name: 'a warm stream, messages to chat',
    path: '/v1/messages',
    body: { model: 'demo-chat', stream: true, max_tokens: 100, messages: hello },
  },
];

const config = `
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat]
    models: [demo-chat]
`;

/** Timers may run beside a request: what counts has run in each of so many rounds. */
const rounds = 4;

/** Counts the functions of one request each, with the counters of V8. */
export async function runsOfRequests(): Promise<readonly Run[]> {
  const gateway = await startTestGateway({ config });
  const session = new Session();
  session.connect();
  const send = async (at: string, body: object): Promise<void> => {
    const response = await gateway.post(at, body);
    if (!response.ok) throw new Error(`${at}: ${response.status}`);
    await response.text();
    // The row is part of the request, and follows the response.
    while (gateway.app.journal.depth > 0) await wait(5);
  };
  const functionsOf = async (at: string, body: object): Promise<ReadonlySet<string>> => {
    await session.post('Profiler.takePreciseCoverage');
    await send(at, body);
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return new Set(
      result
        .filter(({ url }) => url.includes('/gateway/src/'))
        .flatMap(({ url, functions }) =>
          functions
            .filter(({ functionName, ranges: [whole] }) => functionName !== '' && whole?.count)
            .map(({ ranges: [whole] }) => `${url} ${whole?.startOffset}`),
        ),
    );
  };
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    const runs: Run[] = [];
    for (const { name, path: at, body } of requests) {
      await send(at, body);
      await send(at, body);
      let called = await functionsOf(at, body);
      for (let round = 1; round < rounds; round += 1) {
        called = called.intersection(await functionsOf(at, body));
      }
      const functions = Array.from(called, functionAt);
      runs.push({ name, functions, files: new Set(functions.map(({ file }) => file)).size });
    }
    return runs;
  } finally {
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
    await gateway.close();
  }
}

/** Types are stripped in place, so that offsets are those of the source. */
function functionAt(place: string): { file: string; line: string } {
  const [url = '', offset] = place.split(' ');
  const file = fileURLToPath(url);
  const [line = ''] = readFileSync(file, 'utf8').slice(Number(offset)).split('\n');
  return { file: path.relative(sources, file), line };
}
