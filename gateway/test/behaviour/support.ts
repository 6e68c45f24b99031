import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, onTestFinished, vi } from 'vitest';
import { openDatabase } from '#database/index.ts';
import { listUsage, type AttemptRecord, type UsageEntry } from '#usage/index.ts';
import {
  startTestGateway,
  testKey,
  type TestGateway,
  type TestGatewayOptions,
} from '../support/gateway.ts';
import { freePort } from '../support/free-port.ts';
import {
  answerWith,
  startOwnUpstream,
  usageAt,
  type OwnUpstream,
} from '../support/own-upstream.ts';
import { eachCall, type TextProtocol } from './text-protocols.ts';

/** A gateway that is closed with the test, and that must not have logged an error by then. */
export async function openGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const gateway = await startTestGateway(options);
  onTestFinished(async () => {
    await gateway.close();
    const [first] = gateway.errors;
    if (first !== undefined) throw new Error('the gateway logged an error', { cause: first });
  });
  return gateway;
}

/** One gateway for all tests of a file; it must not have logged an error by its end. */
export function shareGateway(options: TestGatewayOptions): { readonly gateway: TestGateway } {
  let gateway: TestGateway | null = null;
  beforeAll(async () => {
    gateway = await startTestGateway(options);
  });
  afterAll(async () => {
    await gateway?.close();
    const [first] = gateway?.errors ?? [];
    if (first !== undefined) throw new Error('the gateway logged an error', { cause: first });
  });
  return {
    get gateway() {
      if (gateway === null) throw new Error('only inside of tests');
      return gateway;
    },
  };
}

/**
 * Asks once in every way before the tests of a file with short time limits: on a busy machine the gateway takes longer
 * than these to load what it does not need before, such as threads.
 * @param model without a time limit
 */
export function loadWith(shared: { readonly gateway: TestGateway }, model?: string): void {
  beforeAll(async () => {
    const calls = eachCall.map(({ protocol, stream }) =>
      ask(shared.gateway, protocol, stream, model),
    );
    for (const { status, text } of await Promise.all(calls)) {
      if (status !== 200) throw new Error(text);
    }
  });
}

/** An upstream of our own for a whole file, which answers with some usage and forgets between tests what it was asked. */
export function shareOwnUpstream(): { readonly upstream: OwnUpstream } {
  let upstream: OwnUpstream | null = null;
  beforeAll(async () => {
    upstream = await startOwnUpstream();
    upstream.answer = (asked, response) => answerWith(usageAt(asked.path, 3, 2))(asked, response);
  });
  afterAll(() => upstream?.close());
  beforeEach(() => upstream?.clear());
  return {
    get upstream() {
      if (upstream === null) throw new Error('only inside of tests');
      return upstream;
    },
  };
}

/** YAML, USD per million tokens. */
export const ordinaryPrice = 'price: { input: 1, output: 2 }';

const everyProtocol = ['chat', 'responses', 'messages', 'generate-content'];

export interface ChannelSketch {
  readonly name: string;
  /** Below the simulator's address, such as `/fault(status=500)`; or a whole address. */
  readonly at?: string;
  /** Default: `simulator`. */
  readonly provider?: string;
  /** Names, or `name -> upstream name`. */
  readonly models: readonly string[];
  /** Default: every text protocol. */
  readonly protocols?: readonly string[];
  /** More lines of YAML, without indentation. */
  readonly more?: readonly string[];
}

/**
 * YAML of channels on the simulator, and of models for all they serve.
 * @param settingsOf what a model's entry says besides its id and type. Default: a price.
 */
export function describeChannels(
  channels: readonly ChannelSketch[],
  settingsOf: (model: string) => string = () => ordinaryPrice,
): string {
  const served = channels.flatMap(({ models }) => models.map((model) => splitMapping(model).name));
  const declared = new Set(
    served.filter((name) => name !== 'demo-chat' && name !== 'demo-reasoning'),
  );
  return [
    'channels:',
    ...channels.flatMap(
      ({ name, at = '', provider = 'simulator', models, protocols = everyProtocol, more = [] }) => [
        `  - name: ${JSON.stringify(name)}`,
        `    provider: ${provider}`,
        `    base_url: ${JSON.stringify(at.startsWith('http') ? at : `SIMULATOR${at}`)}`,
        `    protocols: [${protocols.join(', ')}]`,
        `    models:`,
        ...models.map((model) => {
          const { name: own, upstream } = splitMapping(model);
          return `      - { name: ${JSON.stringify(own)}, upstream: ${JSON.stringify(upstream)} }`;
        }),
        ...more.map((line) => `    ${line}`),
      ],
    ),
    ...(declared.size === 0 ? [] : ['models:']),
    ...[...declared].map((id) => {
      const entry = [`id: ${JSON.stringify(id)}`, 'type: chat', settingsOf(id)].filter(Boolean);
      return `  - { ${entry.join(', ')} }`;
    }),
  ].join('\n');
}

function splitMapping(model: string): { name: string; upstream: string } {
  const [name = '', upstream = name] = model.split(' -> ');
  return { name, upstream };
}

/** One call of a protocol with the test key, read to its end. */
export async function ask(
  gateway: TestGateway,
  protocol: TextProtocol,
  stream: boolean,
  model = 'demo-chat',
  headers: Record<string, string> = {},
  text?: string,
): Promise<ClientResponse> {
  const response = await gateway.post(
    protocol.path(model, stream),
    protocol.body(model, stream, text),
    headers,
  );
  return {
    status: response.status,
    headers: response.headers,
    id: response.headers.get('x-request-id') ?? '',
    text: await response.text(),
  };
}

export interface ClientResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly id: string;
  readonly text: string;
}

/** All rows of a gateway that has been stopped. */
export async function rowsAfterStop({
  databaseUrl,
}: Pick<TestGateway, 'databaseUrl'>): Promise<readonly UsageEntry[]> {
  const database = openDatabase({ url: databaseUrl });
  try {
    return (await listUsage(database.kysely, { limit: 1000 })).data;
  } finally {
    await database.close();
  }
}

/** The one row of a request; fails when it has none or several. */
export async function rowOf(gateway: TestGateway, id: string): Promise<UsageEntry> {
  const isIts = (row: UsageEntry) => row.id === id;
  // Almost always one of the newest; a thousand rows for each test of a file would be most of its work.
  const newest = (await gateway.usage(20)).filter(isIts);
  return only(newest.length > 0 ? newest : (await gateway.usage()).filter(isIts));
}

export function only<T>(list: readonly T[]): T {
  if (list.length !== 1) throw new Error(`expected exactly one, got ${list.length}`);
  return list[0] as T;
}

/** The parts of an attempt's record without times. */
export function attemptsOf(
  row: UsageEntry,
): Pick<AttemptRecord, 'channel' | 'class' | 'status' | 'result'>[] {
  return row.attempts.map(({ channel, class: attemptClass, status, result }) => ({
    channel,
    class: attemptClass,
    status,
    result,
  }));
}

/** Waits until it is so; fails with the sentence after the time. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  sentence: string,
  timeoutMs = 5_000,
): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${timeoutMs} ms: ${sentence}`);
    await wait(10);
  }
}

/**
 * Moves the gateway's clock ahead, so that no test waits for the end of an ejection.
 * @param atEnd restores the clock: at the test's end, or `afterAll` for the whole file
 */
export function jumpingClock(
  atEnd: (restore: () => void) => void = onTestFinished,
): (ms: number) => void {
  const real = performance.now.bind(performance);
  let ahead = 0;
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => real() + ahead);
  atEnd(() => {
    spy.mockRestore();
  });
  return (ms) => {
    ahead += ms;
  };
}

/** A port that nothing listens on, nor will: nobody else is given it. */
export const closedPort = freePort;

/** An upstream that resets every connection on its first bytes, so that none is ever used again. */
export async function openResettingUpstream(): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.resetAndDestroy());
  }).unref();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A bare TCP server, for upstreams that no HTTP library would be. Closed with the test. */
export async function openTcpServer(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A client by bytes: what `fetch` would not do (half-close, read slowly, leave in the middle). */
export interface RawClient {
  readonly socket: Socket;
  /** Everything received so far. */
  received(): string;
  /** The last `bytes` bytes of it, for frequent checks in a large response. */
  latest(bytes: number): string;
  readonly ended: Promise<void>;
}

export async function sendRaw(url: string, request: string | Buffer): Promise<RawClient> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk));
  socket.on('error', () => {});
  const ended = new Promise<void>((resolve) => {
    socket.once('end', resolve);
    socket.once('close', () => resolve());
  });
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  socket.write(request);
  return {
    socket,
    received: () => Buffer.concat(chunks).toString('latin1'),
    latest(bytes) {
      let length = 0;
      const before = chunks.findLastIndex((chunk) => (length += chunk.length) >= bytes);
      return Buffer.concat(chunks.slice(Math.max(before, 0)))
        .subarray(-bytes)
        .toString('latin1');
    },
    ended,
  };
}

/** The bytes of a POST with the test key. */
export function rawPost(path: string, body: unknown, headers: readonly string[] = []): string {
  const text = JSON.stringify(body);
  return [
    `POST ${path} HTTP/1.1`,
    'host: gateway.test',
    `authorization: Bearer ${testKey}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
    ...headers,
    '',
    text,
  ].join('\r\n');
}

/** The call that `ask` makes, by a client by bytes. */
export function askRaw(
  { url }: Pick<TestGateway, 'url'>,
  protocol: TextProtocol,
  stream: boolean,
  model = 'demo-chat',
  headers: readonly string[] = [],
  text?: string,
): Promise<RawClient> {
  return sendRaw(
    url,
    rawPost(protocol.path(model, stream), protocol.body(model, stream, text), headers),
  );
}
