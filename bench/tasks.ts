import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Bench } from './bench.ts';
import { Connection } from './connection.ts';
import { closedLoop, openLoop, type Load } from './load.ts';
import { cpuPerRequest } from './measure.ts';
import { cpuSeconds, drivingCore, memoryBytes, spawnPinned, stop } from './processes.ts';
import type { ResultRow } from './report.ts';
import { loadFor } from './requests.ts';
import { percentile, seededRandom, sleep } from './statistics.ts';
import { benchKey, startGateway, type Target } from './targets.ts';
import type { EndWithin, VideoUpstreamMessage } from './video-upstream.ts';

/** Half of the tasks are at one channel whose vendor lists many at once, half at those whose vendor is asked for each. */
const openTasks = 5_000;
const singleChannels = 40;
/** `video.poll_interval`, in milliseconds: the default. */
const interval = 10_000;
/** Milliseconds within which all of them end. */
const endWithin = 60_000;
/** Seconds for which the looks are measured alone. */
const watched = 60;
/** Each key may ask 600 times a minute. */
const askingKeys = 60;
const asks = 12_000;
const chatsPerSecond = 100;
const plainRun = { connections: 32, count: 24_000 } as const;
const warmUpRequests = 80_000;

const keyOf = (at: number): string => `sk-ask-${at}-`.padEnd(44, '0123456789');

/** Open video tasks: what following them costs, how late their ends are seen, and what it does to the chats beside them. */
export async function measureTasks(bench: Bench, directory: string): Promise<ResultRow[]> {
  const { settings, upstream } = bench;
  if (!settings.targets.includes('gateway')) return results(null);
  const videos = await startVideos();
  const start = () => startGateway(upstream.port, directory, declared(videos.port));
  await upstream.pace({ gap: 0 });
  let gateway = await start();
  try {
    const before = await freshMemory(gateway);
    await submit(gateway.port, openTasks);
    await gateway.stop();
    // A process that has just started: what it grew by while it was busy is no part of it.
    gateway = await start();
    const mebibytes = ((await freshMemory(gateway)) - before) / 2 ** 20;
    settings.progress(`${mebibytes} MiB more`);
    return results({ mebibytes, ...(await measure(bench, gateway, videos, directory)) });
  } finally {
    await gateway.stop();
    await videos.stop();
  }
}

/** Bytes of a process that has served some chats, and looked at each task a few times. */
async function freshMemory(gateway: Target): Promise<number> {
  await closedLoop(chatLoad(gateway), 8, 200);
  await sleep(4 * interval);
  return memoryBytes(gateway.pid);
}

const chatLoad = ({ port }: Target): Load =>
  loadFor(port, { protocol: 'chat', stream: false, size: 1_500, model: 'bench' });

interface Measured {
  /** Milliseconds from the end at the upstream to the end in the database. */
  readonly p50: number;
  readonly p95: number;
  /** Percent of a core. */
  readonly cpu: number;
  readonly cpuWhileEnding: number;
  readonly mebibytes: number;
  readonly perSecond: { readonly open: number; readonly ended: number };
  /** Milliseconds that chats take longer. */
  readonly added: Spread;
  /** CPU per chat beside the looks, without what they take, in relation to chats alone. */
  readonly chat: number;
}

interface Spread {
  readonly p50: number;
  readonly p99: number;
}

async function measure(
  { settings: { progress } }: Bench,
  gateway: Target,
  videos: Videos,
  directory: string,
): Promise<Omit<Measured, 'mebibytes'>> {
  const chat = chatLoad(gateway);
  progress('warming up');
  await closedLoop(chat, 32, warmUpRequests);
  await sleep(interval);
  const cpu = await coreShare(gateway, watched);
  progress(`${cpu} % of a core`);
  const beside = { time: await delaysOf(chat), cpu: await cpuPerChat(gateway, chat, cpu) };
  progress(`chats beside the looks ${JSON.stringify(beside)}`);
  const ids = idsIn(directory);
  const open = await asksPerSecond(gateway.port, ids);
  progress(`${open} questions per second about open tasks`);
  await sleep(2 * interval);
  const ending = coreShare(gateway, endWithin / 1_000);
  const late = await endAll(videos, directory);
  const whileEnding = await ending;
  progress(`ends after ${percentile(late, 0.5)}, ${percentile(late, 0.95)} ms`);
  await sleep(interval);
  const resting = await coreShare(gateway, watched / 2);
  const alone = { time: await delaysOf(chat), cpu: await cpuPerChat(gateway, chat, resting) };
  progress(`chats alone ${JSON.stringify(alone)}`);
  return {
    p50: percentile(late, 0.5),
    p95: percentile(late, 0.95),
    cpu: cpu - resting,
    cpuWhileEnding: whileEnding - resting,
    perSecond: { open, ended: await asksPerSecond(gateway.port, ids) },
    added: { p50: beside.time.p50 - alone.time.p50, p99: beside.time.p99 - alone.time.p99 },
    chat: beside.cpu / alone.cpu,
  };
}

function results(measured: Measured | null): ResultRow[] {
  const row = (
    title: string,
    unit: ResultRow['unit'],
    gateway: number | undefined,
    atMost: number | null = null,
  ): ResultRow => ({
    title,
    unit,
    values: { gateway },
    bound: atMost === null ? null : { atMost },
  });
  const many = '5 000 open video tasks';
  return [
    row(`${many}: from an end to its record, p50`, 's', seconds(measured?.p50)),
    row('… p95', 's', seconds(measured?.p95), (1.5 * interval) / 1_000),
    row('… CPU of looking at them', '%', measured?.cpu, 10),
    row('… the same while all end within a minute', '%', measured?.cpuWhileEnding),
    row('… memory more', 'MiB', measured?.mebibytes, 50),
    row('… questions about open ones per second', '/s', measured?.perSecond.open),
    row('… about ended ones', '/s', measured?.perSecond.ended),
    row(`… added to ${chatsPerSecond} chats a second, p50`, 'ms', measured?.added.p50),
    row('… p99', 'ms', measured?.added.p99),
    row('… CPU per chat beside the looks ÷ alone', '×', measured?.chat),
  ];
}

const seconds = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : milliseconds / 1_000;

interface Videos {
  readonly port: number;
  /** Lets all tasks end. Resolves to when each does, by the upstream's id. */
  endAll(within: number): Promise<ReadonlyMap<string, number>>;
  stop(): Promise<void>;
}

async function startVideos(): Promise<Videos> {
  const script = path.join(import.meta.dirname, 'video-upstream.ts');
  const child = spawnPinned(drivingCore, process.execPath, [script], { ipc: true });
  const next = () =>
    new Promise<VideoUpstreamMessage>((resolve) =>
      child.once('message', (message) => resolve(message as VideoUpstreamMessage)),
    );
  const started = await next();
  if (!('port' in started)) throw new Error('the upstream of videos did not start');
  return {
    port: started.port,
    async endAll(within) {
      const answered = next();
      child.send({ endWithin: within } satisfies EndWithin);
      const message = await answered;
      return new Map('ends' in message ? message.ends : []);
    },
    stop: () => stop(child),
  };
}

/** One channel with a list of tasks and many without, and keys that ask. */
function declared(port: number): { channels: string; models: string; keys: string } {
  const base = `http://127.0.0.1:${port}`;
  const single = Array.from(
    { length: singleChannels },
    (_, at) =>
      `  - { name: single-${at}, provider: dashscope, base_url: '${base}/api/v1', api_key: bench-${at}, models: [bench-video-1] }\n`,
  );
  const keys = Array.from(
    { length: askingKeys },
    (_, at) =>
      `  - { name: ask-${at}, secret: ${keyOf(at)}, user: bench@example.com, group: default }\n`,
  );
  return {
    channels: `${single.join('')}  - { name: listed, provider: ark, base_url: '${base}/api/v3', api_key: bench, models: [bench-video-2] }\n`,
    models: `  - { id: bench-video-1, type: video, price: { video_second: { 720P: 0.1 } } }
  - { id: bench-video-2, type: video, price: { video_tokens: { 720P: { text: 7, with_video: 4 } } } }
`,
    keys: keys.join(''),
  };
}

/** Submits as many tasks, half of them to each vendor. */
async function submit(port: number, count: number): Promise<void> {
  const both = [
    requestOf(port, 'POST /v1/services/aigc/video-generation/video-synthesis', benchKey, {
      model: 'bench-video-1',
      input: { prompt: 'a lighthouse' },
      parameters: { resolution: '720P', duration: 5 },
    }),
    requestOf(port, 'POST /api/v3/contents/generations/tasks', benchKey, {
      model: 'bench-video-2',
      content: [{ type: 'text', text: 'a lighthouse' }],
      resolution: '720p',
      duration: 5,
    }),
  ];
  for (const load of both) await closedLoop(load, 16, count / 2);
}

function requestOf(port: number, line: string, key: string, body: object | null): Load {
  const bytes = body === null ? '' : JSON.stringify(body);
  const head =
    `${line} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${key}\r\n` +
    `content-type: application/json\r\nx-dashscope-async: enable\r\naccept: */*\r\n` +
    `user-agent: sluice-bench\r\ncontent-length: ${bytes.length}\r\n\r\n`;
  return { port, request: Buffer.from(head + bytes), terminator: '}' };
}

/** Percent of a core that the gateway uses in these seconds. */
async function coreShare({ pid }: Target, forSeconds: number): Promise<number> {
  const from = performance.now();
  const before = cpuSeconds(pid);
  await sleep(forSeconds * 1_000);
  return ((cpuSeconds(pid) - before) / ((performance.now() - from) / 1_000)) * 100;
}

/** Milliseconds that chats take, at random moments. */
async function delaysOf(chat: Load): Promise<Spread> {
  const seen = await openLoop(chat, chatsPerSecond, 20);
  const times = seen.map(({ sentAt, endAt }) => (endAt - sentAt) / 1_000);
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

/** Microseconds of CPU per chat, without what the process takes anyway. @param share that, in percent of a core */
async function cpuPerChat(gateway: Target, chat: Load, share: number): Promise<number> {
  const from = performance.now();
  const all = await cpuPerRequest(gateway, chat, plainRun);
  const elsewhere = (performance.now() - from) * 1_000 * (share / 100);
  return all - elsewhere / plainRun.count;
}

/** Ids of all tasks, as clients know them. */
function idsIn(directory: string): readonly string[] {
  const database = new DatabaseSync(path.join(directory, 'sluice.db'), { readOnly: true });
  const rows = database.prepare('select id from tasks').all();
  database.close();
  return rows.map(({ id }) => String(id));
}

/** Asks for tasks in no order, as fast as possible. */
async function asksPerSecond(port: number, ids: readonly string[]): Promise<number> {
  const random = seededRandom(2);
  let left = asks;
  const from = performance.now();
  const drive = async (): Promise<void> => {
    const connection = new Connection(port);
    while (left-- > 0) {
      const id = ids[Math.floor(random() * ids.length)]!;
      const base = id.startsWith('cgt-') ? '/api/v3/contents/generations/tasks' : '/v1/tasks';
      const load = requestOf(port, `GET ${base}/${id}`, keyOf(left % askingKeys), null);
      const { status } = await connection.exchange(load.request);
      if (status !== 200) throw new Error(`asked for a task: status ${status}`);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: 32 }, drive));
  return (asks * 1_000) / (performance.now() - from);
}

/** Lets all tasks end and waits until all ends are stored. @returns how many milliseconds each was late */
async function endAll(videos: Videos, directory: string): Promise<readonly number[]> {
  const ends = await videos.endAll(endWithin);
  await sleep(endWithin);
  const database = new DatabaseSync(path.join(directory, 'sluice.db'), { readOnly: true });
  const open = database.prepare('select count(*) as n from tasks where ended_at is null');
  while (Number(open.get()?.['n']) > 0) await sleep(1_000);
  const rows = database.prepare('select upstream_id, ended_at from tasks').all();
  database.close();
  return rows.map(
    ({ upstream_id: id, ended_at: endedAt }) => Number(endedAt) - ends.get(String(id))!,
  );
}
