import { isAscii } from 'node:buffer';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, test } from 'vitest';
import { scanJson, watchList } from '#json/index.ts';
import { parsedSize } from './body-claim.ts';

/** Parses bodies and says what its heap has grown by. In a thread, the heap is not full of what other tests left. */
const parser = new Worker(
  `const { parentPort } = require('node:worker_threads');
  require('node:v8').setFlagsFromString('--expose-gc');
  const collect = require('node:vm').runInNewContext('gc');
  parentPort.on('message', (bytes) => {
    const body = Buffer.from(bytes.buffer);
    collect();
    const before = process.memoryUsage().heapUsed;
    const parsed = JSON.parse(body.toString());
    collect();
    const heap = process.memoryUsage().heapUsed - before;
    parentPort.postMessage({ heap, type: typeof parsed });
  });`,
  { eval: true },
);
afterAll(() => parser.terminate());

const list = (count: number, of: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => of(at)).join();

/** Bodies of one kind each: what a parsed form can be made of. */
const bodies: Record<string, () => string> = {
  'long text': () => `{"m":"${'a'.repeat(8_000_000)}"}`,
  'long text with one character that needs two bytes': () => `{"m":"${'a'.repeat(8_000_000)}ж"}`,
  'text in pieces': () => `{"m":[${list(4_000, (at) => `"${at}${'a'.repeat(2_000)}"`)}]}`,
  'Chinese text': () => `{"m":"${'漢'.repeat(3_000_000)}"}`,
  numbers: () => `{"m":[${list(300_000, (at) => `${at}.5`)}]}`,
  'short texts': () => `{"m":[${list(300_000, (at) => `"s${at}"`)}]}`,
  'empty lists': () => `{"m":[${list(150_000, () => '[]')}]}`,
  'empty objects': () => `{"m":[${list(150_000, () => '{}')}]}`,
  'lists in lists': () => `{"m":[${list(750, () => '['.repeat(400) + ']'.repeat(400))}]}`,
  'objects in objects': () =>
    `{"m":[${list(300, () => `${'{"a":'.repeat(400)}1${'}'.repeat(400)}`)}]}`,
  'many names in one object': () => `{"m":{${list(130_000, (at) => `"k${at}":1`)}}}`,
  'objects with a name of their own': () => `{"m":[${list(130_000, (at) => `{"k${at}":1.5}`)}]}`,
  'objects with a hundred names of their own': () =>
    `{"m":[${list(1_300, (at) => `{${list(100, (name) => `"${at}_${name}":1`)}}`)}]}`,
};

test.each(Object.keys(bodies))(
  '%s takes at most the counted memory, and not much less',
  async (name) => {
    const body = new TextEncoder().encode(bodies[name]!());
    const { memberCount, valueCount } = scanJson(Buffer.from(body.buffer), watchList([]));
    const counted = parsedSize(body.length, isAscii(body), memberCount, valueCount);
    parser.postMessage(body);
    const [{ heap, type }] = (await once(parser, 'message')) as [{ heap: number; type: string }];
    expect(type).toBe('object');
    // The body itself is held twice besides, as it came and as it is sent.
    const taken = heap + 2 * body.length;
    expect(taken).toBeLessThanOrEqual(counted * 1.05);
    expect(taken).toBeGreaterThan(counted / 6);
  },
);
