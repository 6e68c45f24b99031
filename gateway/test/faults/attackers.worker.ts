import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';

/* Everything that takes memory before payment, all at once and repeatedly until the thread is ended. */

export interface AttackersData {
  readonly port: number;
  readonly keys: readonly string[];
  /** Where there are large pictures. */
  readonly images: string;
  /** Only this attack; absent: all. */
  readonly only?: string;
}

const { port, keys, images, only } = workerData as AttackersData;
const mebibyte = 2 ** 20;
const size = 60 * mebibyte;
/** How connections ended: a status, or none. */
const counts: Record<string, number> = {};

const chat = (content: string | Buffer): Buffer =>
  Buffer.concat([
    Buffer.from('{"model":"m","messages":[{"role":"user","content":"'),
    Buffer.from(content),
    Buffer.from('"}]}'),
  ]);
const large = chat(Buffer.alloc(size, 'a'));
const bomb = gzipSync(chat(Buffer.alloc(size, 'a')));
const noise = Buffer.alloc(size, 'a');
let seed = 1;
for (let at = 0; at < size; at += 90) noise[at] = 97 + ((seed = (seed * 48_271) % 0x7fffffff) % 20);
/** Unpacks to less than a hundred times its bytes. */
const packed = gzipSync(chat(noise));
const deep = Buffer.from(
  `{"model":"m","messages":[${`${'['.repeat(400)}${']'.repeat(400)},`.repeat(1_200)}[]]}`,
);
const wide = Buffer.from(
  `{"model":"m","messages":[],"more":{${Array.from({ length: 250_000 }, (_, at) => `"k${at}":1`).join()}}}`,
);

const byAddress = Buffer.from(
  JSON.stringify({
    model: 'g',
    messages: [
      {
        role: 'user',
        content: ['a', 'b'].map((name) => ({
          type: 'image_url',
          image_url: { url: `${images}/${name}` },
        })),
      },
    ],
  }),
);

interface Attack {
  readonly name: string;
  /** At the same time. */
  readonly count: number;
  readonly body: Buffer;
  /** Bytes of the body that are sent; absent: all. */
  readonly sent?: number;
  readonly encoding?: string;
  readonly chunked?: boolean;
  /** Milliseconds that the connection is held after that. */
  readonly hold?: number;
  /** Interval at which a byte of the body is sent meanwhile, in milliseconds. */
  readonly trickle?: number;
}

const attacks: readonly Attack[] = [
  { name: 'bombs', count: 40, body: bomb, encoding: 'gzip' },
  { name: 'packed', count: 6, body: packed, encoding: 'gzip' },
  {
    name: 'unfinished gzip',
    count: 30,
    body: packed,
    sent: packed.length - 1,
    encoding: 'gzip',
    hold: 40_000,
  },
  { name: 'unfinished', count: 8, body: large, sent: large.length - 1, hold: 40_000 },
  {
    name: 'unfinished chunks',
    count: 4,
    body: large,
    sent: large.length - 1,
    chunked: true,
    hold: 40_000,
  },
  { name: 'burst', count: 12, body: large },
  { name: 'deep', count: 4, body: deep },
  { name: 'wide', count: 2, body: wide },
  { name: 'pictures', count: 16, body: byAddress },
  { name: 'trickles', count: 100, body: large, sent: 500, trickle: 1_000, hold: 60_000 },
];

for (const attack of attacks) {
  if (only !== undefined && attack.name !== only) continue;
  for (let at = 0; at < attack.count; at += 1) void repeat(attack, at);
}

async function repeat(attack: Attack, at: number): Promise<void> {
  for (let round = 0; ; round += 1) {
    const key = keys[(at + round) % keys.length] ?? '';
    const outcome = `${attack.name} ${await once(attack, key)}`;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
    parentPort?.postMessage(counts);
    // As soon as a refused client may retry.
    await wait(250);
  }
}

function once(attack: Attack, key: string): Promise<string> {
  const { body, sent = body.length, encoding, chunked, hold, trickle } = attack;
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    let status = 'cut';
    let tick: NodeJS.Timeout | undefined;
    const end = setTimeout(() => socket.destroy(), hold ?? 60_000);
    socket.on('error', () => {});
    socket.on('data', (data) => {
      status = /^HTTP\/1\.1 (\d+)/.exec(data.toString('latin1'))?.[1] ?? status;
      socket.destroy();
    });
    socket.on('close', () => {
      clearTimeout(end);
      clearInterval(tick);
      resolve(status);
    });
    const length =
      chunked === true ? 'transfer-encoding: chunked' : `content-length: ${body.length}`;
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n${length}\r\n${encoding === undefined ? '' : `content-encoding: ${encoding}\r\n`}\r\n`,
    );
    if (chunked === true) socket.write(`${body.length.toString(16)}\r\n`);
    socket.write(body.subarray(0, sent));
    if (trickle !== undefined) tick = setInterval(() => socket.write('a'), trickle);
  });
}
