import { createServer, type Server } from 'node:http';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { startSimulator, type Simulator } from 'simulator';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { until } from '../behaviour/support.ts';
import { startGatewayProcess, type GatewayProcess } from '../support/gateway-process.ts';

/*
 * Many clients at once, on a gateway in a process of its own, so that its memory can be read. `npm run test:sieges`
 * asks for the full numbers; everywhere else there are a few of them.
 */

const full = process.env['SLUICE_FAULT_LOOPS'] !== undefined;
const key = 'sk-many-0123456789abcdefghijklmnopqrstuv';
/** What the clients of this one process can saturate. */
const inFlight = 120;
/** In addition to the slow clients. */
const inFlightOfSlow = 600;

let simulator: Simulator;
let large: LargeResponses;
let gateway: GatewayProcess;
let url: URL;

beforeAll(async () => {
  simulator = await startSimulator();
  large = await startLargeResponses();
});

afterAll(async () => {
  await simulator.close();
  large.close();
});

/** A gateway in a process of its own, stopped with the test. */
async function useGateway(limit: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-many-'));
  writeFileSync(
    join(folder, 'sluice.yaml'),
    `
server: { port: 0, drain_timeout: 1s }
limits: { in_flight: ${limit}, queue: 20, key_concurrency: 1000000 }
channels:
  - { name: sim, provider: simulator, base_url: "${simulator.url}", protocols: [chat], models: [demo-chat] }
  - name: converted
    provider: simulator
    base_url: "${simulator.url}"
    protocols: [messages]
    models: [{ name: converted, upstream: demo-chat }]
  - { name: large, provider: openai-compatible, base_url: "${large.url}", api_key: none, models: [large] }
models:
  - { id: large, type: chat, price: { input: 1, output: 1 } }
  - { id: converted, type: chat, price: { input: 1, output: 1 } }
users: [{ email: tester@example.com, balance: 100000 }]
keys: [{ name: test, user: tester@example.com, secret: ${key} }]
`,
  );
  gateway = startGatewayProcess({ folder });
  onTestFinished(async () => {
    gateway.child.kill('SIGINT');
    await gateway.exit;
    rmSync(folder, { recursive: true, force: true });
  });
  url = new URL(await gateway.url);
}

const open = (): Socket => {
  const socket = connect({ host: url.hostname, port: Number(url.port) });
  socket.on('error', () => {});
  return socket;
};

function ask(
  socket: Socket,
  stream: boolean,
  fault: string,
  model = 'demo-chat',
  content = 'hello',
): void {
  const body = JSON.stringify({
    model,
    stream,
    messages: [{ role: 'user', content }],
  });
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
      `content-type: application/json\r\nx-simulator-fault: ${fault}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

interface LargeResponses {
  readonly url: string;
  /** Bytes that were taken from it so far. */
  readonly sent: number;
  close(): void;
}

/** An upstream whose responses of fifty megabytes are made as they are taken: a thousand of them need no memory here. */
async function startLargeResponses(): Promise<LargeResponses> {
  let sent = 0;
  const delta = { index: 0, delta: { content: 'x'.repeat(10_000) }, finish_reason: null };
  const event = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [delta] })}\n\n`;
  const server: Server = createServer((request, response) => {
    request.resume();
    response.on('error', () => {});
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    function* events() {
      for (let count = 0; count < largeEvents; count += 1) {
        sent += event.length;
        yield event;
      }
      yield 'data: [DONE]\n\n';
    }
    Readable.from(events(), { objectMode: true, highWaterMark: 1 }).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get sent() {
      return sent;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const largeEvents = 5_000;
const largeBytes = largeEvents * 10_000;

/** Resident memory of the gateway, bytes. */
function memory(): number {
  const status = readFileSync(`/proc/${gateway.child.pid}/status`, 'latin1');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
}

async function openExchanges(): Promise<number> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  const lines = text.split('\n').filter((line) => line.startsWith('sluice_open_exchanges{'));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

test(
  'R-17 slow clients of large responses slow the upstream down and take little memory',
  { timeout: 120_000 },
  async () => {
    await useGateway(inFlightOfSlow);
    const clients = full ? 500 : 60;
    // One that is read to its end, so that all code has run once and its memory is there.
    for (let round = 0; round < 3; round += 1) {
      const warm = open();
      warm.resume();
      ask(warm, true, '', 'large');
      await until(
        async () => (await openExchanges()) === 0 && large.sent >= (round + 1) * largeBytes,
        'warm',
        20_000,
      );
      warm.destroy();
    }
    const before = memory();
    const sentBefore = large.sent;
    const sockets = Array.from({ length: clients }, () => {
      const socket = open();
      ask(socket, true, '', 'large');
      socket.pause();
      // About a kilobyte a second: a client that reads, and hardly so.
      const timer = setInterval(() => socket.read(1_024), 1_000);
      socket.once('close', () => clearInterval(timer));
      return socket;
    });
    await until(async () => (await openExchanges()) === clients, 'all are under way', 30_000);
    let most = 0;
    for (let round = 0; round < (full ? 80 : 12); round += 1) {
      await wait(250);
      most = Math.max(most, memory());
    }
    // 128 KiB may wait in the gateway for each, and the pieces under way to it.
    expect((most - before) / 2 ** 20).toBeLessThan(full ? 250 : 120);
    // Most of each response has never left its upstream: kernels hold some megabytes on the way.
    const share = (large.sent - sentBefore) / clients / largeBytes;
    expect(share).toBeGreaterThan(0);
    expect(share).toBeLessThan(0.6);
    for (const socket of sockets) socket.destroy();
    await until(async () => (await openExchanges()) === 0, 'all have been let go', 10_000);
  },
);

test.each(['demo-chat', 'converted'])(
  'a request is forgotten once its response is shown: long streams of large requests to %s',
  { timeout: 120_000 },
  async (model) => {
    await useGateway(inFlightOfSlow);
    const count = full ? 500 : 150;
    // Beyond Latin-1, so that each is twice as large when it is parsed.
    const content = 'naïve — '.repeat(30_000);
    const begin = async (fault: string) => {
      const socket = open();
      ask(socket, true, fault, model, content);
      await new Promise<void>((resolve) => socket.once('data', () => resolve()));
      socket.resume();
      return socket;
    };
    const beginSome = (fault: string) =>
      Promise.all(Array.from({ length: 25 }, () => begin(fault)));
    // As many at a time as later, so that uncollected garbage is in both figures.
    const pass = async () => {
      const sockets = await beginSome('');
      await until(async () => (await openExchanges()) <= held.length, 'passed', 20_000);
      for (const socket of sockets) socket.destroy();
    };
    const held: Socket[] = [];
    for (let round = 0; round < 4; round += 1) await pass();
    const before = memory();
    while (held.length < count) held.push(...(await beginSome('events=100;gap=500')));
    for (let round = 0; round < 2; round += 1) await pass();
    expect(await openExchanges()).toBe(count);
    // Kept, each would be 300 KB of bytes and 480 KB of text.
    const perStream = (memory() - before) / count;
    expect(perStream).toBeLessThan(400_000);
    for (const socket of held) socket.destroy();
    await until(async () => (await openExchanges()) === 0, 'all have been let go', 10_000);
  },
);

test(
  'R-24 five times the capacity: the surplus is refused at once, running requests continue',
  { timeout: 120_000 },
  async () => {
    await useGateway(inFlight);
    const running = Array.from({ length: 10 }, () => {
      const socket = open();
      const gaps: number[] = [];
      let last = performance.now();
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        const now = performance.now();
        gaps.push(now - last);
        last = now;
        text += chunk.toString();
      });
      ask(socket, true, `events=${full ? 600 : 60};gap=100`);
      return { socket, gaps, isComplete: () => text.includes('data: [DONE]') };
    });
    await until(() => running.every(({ gaps }) => gaps.length > 3), 'streams are running');
    for (const { gaps } of running) gaps.length = 0;

    /** Runs closed-loop clients for `seconds`: returns what each saw. */
    const load = async (clients: number, seconds: number) => {
      const seen: { status: number; ms: number; retryAfter: string | null }[] = [];
      const end = performance.now() + seconds * 1_000;
      await Promise.all(
        Array.from({ length: clients }, async () => {
          while (performance.now() < end) {
            const startedAt = performance.now();
            const response = await fetch(new URL('/v1/chat/completions', url), {
              method: 'POST',
              headers: {
                authorization: `Bearer ${key}`,
                'content-type': 'application/json',
                'x-simulator-fault': 'delay=400',
              },
              body: JSON.stringify({
                model: 'demo-chat',
                messages: [{ role: 'user', content: 'hi' }],
              }),
            });
            await response.arrayBuffer();
            const ms = performance.now() - startedAt;
            seen.push({
              status: response.status,
              ms,
              retryAfter: response.headers.get('retry-after'),
            });
            // A refused client comes again soon, and not at once.
            if (response.status !== 200) await wait(300);
          }
        }),
      );
      return seen;
    };
    const seconds = full ? 30 : 3;
    const goodput = (seen: readonly { status: number }[]) =>
      seen.filter(({ status }) => status === 200).length / seconds;
    // Other work of the machine may fall into one of the two: then both are measured again.
    const fair = full ? 0.8 : 0.5;
    let share = 0;
    let crowd: Awaited<ReturnType<typeof load>> = [];
    for (let turn = 0; turn < (full ? 1 : 3) && share <= fair; turn += 1) {
      const peak = goodput(await load(inFlight - 10, seconds));
      crowd = await load(inFlight * 5, seconds);
      share = goodput(crowd) / peak;
    }
    expect(share).toBeGreaterThan(fair);
    const refused = crowd.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(100);
    expect(new Set(refused.map(({ status, retryAfter }) => `${status} ${retryAfter}`))).toEqual(
      new Set(['503 1']),
    );
    for (const { gaps } of running) expect(Math.max(...gaps)).toBeLessThan(2_000);
    await until(() => running.every(({ isComplete }) => isComplete()), 'each is whole', 60_000);
    for (const { socket } of running) socket.destroy();
  },
);

test(
  'ten thousand idle connections take only memory, and little of it',
  { timeout: 120_000 },
  async () => {
    await useGateway(inFlight);
    const count = full ? 10_000 : 1_000;
    let before = 0;
    const sockets: Socket[] = [];
    for (let at = 0; at < count; at += 250) {
      // The first of them pay for code that has not run before.
      if (at === 250) before = memory();
      const some = Array.from({ length: Math.min(250, count - at) }, open);
      sockets.push(...some);
      await Promise.all(
        some.map(
          (socket) => new Promise<void>((resolve) => socket.once('connect', () => resolve())),
        ),
      );
      // Each has been served once, as the idle connections of a load balancer have.
      await Promise.all(
        some.map(
          (socket) =>
            new Promise<void>((resolve) => {
              socket.once('data', () => resolve());
              socket.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n');
            }),
        ),
      );
    }
    await wait(500);
    // With few connections, much of the memory is not collected yet.
    expect((memory() - before) / (count - 250) / 1_024).toBeLessThan(full ? 40 : 80);
    const response = await fetch(new URL('/health', url));
    expect(response.status).toBe(200);
    expect(sockets.every((socket) => !socket.destroyed)).toBe(true);
    for (const socket of sockets) socket.destroy();
  },
);
