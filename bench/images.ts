import { randomBytes } from 'node:crypto';
import type { Bench } from './bench.ts';
import { closedLoop, openLoop, type Load } from './load.ts';
import { cpuPerRequest } from './measure.ts';
import { memoryBytes } from './processes.ts';
import type { ResultRow } from './report.ts';
import { loadFor } from './requests.ts';
import { median, percentile, sleep } from './statistics.ts';
import { benchKey, type Target, type TargetName } from './targets.ts';

/** Bytes of a measured picture, in an answer (there in base64) and in an edit. */
const pictureBytes = 10_000_000;
/** Several pictures of one edit. */
const largeEditBytes = 50_000_000;
const answersAtOnce = 200;
const chatsPerSecond = 100;
/** Milliseconds from the end of an edit to the next one. */
const betweenEdits = 1_000;

const answers = { connections: 4, count: 40 } as const;

/**
 * Pictures: what an answer and an edit of 10 MB cost, what 200 answers at once take of the memory, and what edits do to
 * the chats beside them.
 */
export async function measureImages({ settings, targets, upstream }: Bench): Promise<ResultRow[]> {
  await upstream.pace({ gap: 0 });
  const values: Record<'answer' | 'edit', Partial<Record<TargetName, number>>> = {
    answer: {},
    edit: {},
  };
  const peak: Partial<Record<TargetName, number>> = {};
  const after: Partial<Record<TargetName, number>> = {};
  const added: Partial<Record<TargetName, number>> = {};
  // The smallest Node gateway reads JSON only, and keeps nothing.
  for (const target of targets) {
    const { name } = target;
    if (name !== 'nginx' && name !== 'gateway') continue;
    const samples = { answer: [] as number[], edit: [] as number[] };
    for (let round = 1; round <= settings.rounds; round += 1) {
      samples.answer.push(await cpuPerRequest(target, generation(target), answers));
      samples.edit.push(await cpuPerRequest(target, edit(target, pictureBytes), answers));
      settings.progress(`round ${round}: ${name} ${samples.answer.at(-1)} ${samples.edit.at(-1)}`);
    }
    values.answer[name] = median(samples.answer);
    values.edit[name] = median(samples.edit);
    const use = await memoryDuring(target);
    peak[name] = use.peak / 2 ** 20;
    after[name] = use.after / 2 ** 20;
    settings.progress(`${name} ${JSON.stringify(use)}`);
    added[name] = await addedToChats(target);
  }
  const cpu = (what: string, of: typeof peak): ResultRow => ({
    title: `CPU per ${what} of 10 MB`,
    unit: 'µs',
    values: of,
    bound: { timesNginx: 3 },
  });
  return [
    cpu('answer with a picture', values.answer),
    cpu('edit of a picture', values.edit),
    {
      title: `memory at most, ${answersAtOnce} answers of 10 MB at once`,
      unit: 'MiB',
      values: peak,
      bound: { atMost: 600 },
    },
    { title: 'memory ten seconds later', unit: 'MiB', values: after, bound: null },
    {
      title: `added to the p99 of ${chatsPerSecond} chats a second by an edit of 50 MB at a time`,
      unit: 'ms',
      values: added,
      bound: { atMost: 10 },
    },
  ];
}

async function memoryDuring(target: Target): Promise<{ peak: number; after: number }> {
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, memoryBytes(target.pid));
  }, 50);
  await closedLoop(generation(target), answersAtOnce, answersAtOnce);
  clearInterval(timer);
  await sleep(10_000);
  return { peak, after: memoryBytes(target.pid) };
}

/** In milliseconds. */
async function addedToChats(target: Target): Promise<number> {
  const load = loadFor(target.port, {
    protocol: 'chat',
    stream: false,
    size: 1_500,
    model: 'bench',
  });
  const p99 = async () => {
    const seen = await openLoop(load, chatsPerSecond, 15);
    return percentile(
      seen.map(({ sentAt, endAt }) => (endAt - sentAt) / 1000),
      0.99,
    );
  };
  const alone = await p99();
  const over = new AbortController();
  // One at a time, with pauses: upstream and client share one core, and would be busy with edits alone.
  const large = edit(target, largeEditBytes);
  const edits = (async () => {
    while (!over.signal.aborted) {
      await closedLoop(large, 1, 1);
      await sleep(betweenEdits);
    }
  })();
  const beside = await p99();
  over.abort();
  await edits;
  return beside - alone;
}

function generation({ port }: Target): Load {
  const body = JSON.stringify({ model: 'bench-image', prompt: 'a lighthouse', n: 1 });
  return request(port, '/v1/images/generations', 'application/json', [Buffer.from(body)]);
}

/** A form with one picture, or with several of 10 MB each. */
function edit({ port }: Target, bytes: number): Load {
  const boundary = 'bench-boundary-0123456789';
  const field = (disposition: string, content: Buffer, type = '') =>
    Buffer.concat([
      Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n${type}\r\n`),
      content,
      Buffer.from('\r\n'),
    ]);
  const pictures = Array.from({ length: Math.ceil(bytes / pictureBytes) }, (_, at) =>
    field(
      `name="image[]"; filename="${at}.png"`,
      Buffer.concat([pngSignature, randomBytes(Math.min(bytes, pictureBytes))]),
      'content-type: image/png\r\n',
    ),
  );
  return request(port, '/v1/images/edits', `multipart/form-data; boundary=${boundary}`, [
    field('name="model"', Buffer.from('bench-image')),
    field('name="prompt"', Buffer.from('make it night')),
    ...pictures,
    Buffer.from(`--${boundary}--\r\n`),
  ]);
}

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function request(port: number, path: string, type: string, parts: readonly Buffer[]): Load {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const head =
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${benchKey}\r\n` +
    `content-type: ${type}\r\naccept: */*\r\nuser-agent: sluice-bench\r\ncontent-length: ${length}\r\n\r\n`;
  return {
    port,
    request: Buffer.concat([Buffer.from(head), ...parts]),
    terminator: '"total_tokens":1156',
  };
}
