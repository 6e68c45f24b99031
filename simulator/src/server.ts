import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createFaultCounter } from './faults/counter.ts';
import { deliver } from './faults/deliver.ts';
import { parseFault } from './faults/fault.ts';
import { answerRequest, type AnswerParts } from './http/answer.ts';
import { decodeBody, readBody } from './http/body.ts';
import { createReplyCache, type ReplyCache } from './http/cache.ts';
import { createRouter } from './http/routes.ts';
import { watchDelivery } from './log/delivery.ts';
import { createRequestLog, type ReceivedRequest } from './log/request-log.ts';
import { createReplayer } from './replay/recording.ts';
import { createSigner } from './scenario/signature.ts';
import { createClock } from './videos/clock.ts';
import { openTaskFile } from './videos/task-file.ts';
import { createTasks, type ListedTask } from './videos/tasks.ts';

export interface SimulatorOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Folder of recordings to replay; default the environment's SIMULATOR_RECORDINGS. */
  readonly recordings?: string;
  /** Milliseconds between stream events of ordinary responses; default 0. */
  readonly gap?: number;
  /** Simulators with different keys reject each other's reasoning signatures. */
  readonly signingKey?: string;
  /** Milliseconds since the epoch, for `created` fields; default a constant. */
  readonly clock?: () => number;
  /** How many requests the log keeps, the newest; default 10 000. */
  readonly keptRequests?: number;
  /** A file in which video tasks outlive the process. Default: none. */
  readonly tasks?: string;
}

export interface Simulator {
  readonly url: string;
  readonly port: number;
  /** Requests since the start or the last `clear()`, oldest first. Keeps the newest if there are too many. */
  requests(): ReceivedRequest[];
  /** Clears the requests, the video tasks, the count of aborted ones and the counts of faults. */
  clear(): void;
  /**
   * Gives every request this fault until the next call, '' for none: an outage under a test's
   * control. Throws for an unknown fault.
   */
  setFault(text: string): void;
  /** The same for requests that ask for video tasks, which cannot name a fault themselves. */
  setLookFault(text: string): void;
  /** Video tasks, oldest first. */
  tasks(): readonly ListedTask[];
  /** Puts the clock of video tasks forward. */
  advance(milliseconds: number): void;
  /** Open sockets. */
  connections(): number;
  /** Requests whose client disconnected before the end of the response. */
  aborted(): number;
  close(): Promise<void>;
}

/** 2026-09-21. Equal requests get equal responses, so time stands still without a given clock. */
const standingStill = 1_790_000_000;
const defaultSigningKey = 'sluice simulator';

/** Starts a simulated vendor for every text protocol. Rejects if the port is not available. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { clock } = options;
  let standingFault = '';
  let lookFault = '';
  const tasks = createTasks(
    createClock(clock ?? Date.now),
    options.tasks === undefined ? undefined : openTaskFile(options.tasks),
  );
  const parts: AnswerParts = {
    route: createRouter({
      signer: createSigner(options.signingKey ?? defaultSigningKey),
      created: () => (clock ? Math.floor(clock() / 1000) : standingStill),
      tasks,
    }),
    faults: createFaultCounter(),
    standingFault: () => standingFault,
    lookFault: () => lookFault,
    replay: createReplayer(options.recordings ?? process.env['SIMULATOR_RECORDINGS']),
    cache: clock ? uncached : createReplyCache(),
  };
  const log = createRequestLog(Date.now, options.keptRequests);
  const sockets = new Set<Socket>();
  let aborted = 0;
  const clear = () => {
    log.clear();
    parts.faults.clear();
    tasks.clear();
    aborted = 0;
  };

  const setLookFault = (text: string): void => {
    lookFault = checkedFault(text);
  };

  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const counts = () => ({ open: sockets.size, aborted });
    const advance = tasks.clock.advance;
    const own = { log: log.list, clear, counts, tasks: tasks.list, advance, setLookFault };
    if (answerOwn(request, response, own)) return;
    const delivery = watchDelivery(response, () => {
      aborted += 1;
    });
    const body = await readBody(request).catch(() => undefined);
    if (body === undefined) return;
    const decoded = await decodeBody(body, request.headers['content-encoding']);
    const method = request.method ?? '';
    const path = request.url ?? '';
    const { headers } = request;
    const planned = await answerRequest({ method, target: path, headers, body: decoded }, parts);
    const { fault, faultText, form, reply } = planned;
    const raw = { rawHeaders: request.rawHeaders, body, decoded: decoded ?? Buffer.alloc(0) };
    log.add({ method, path, ...raw, form, fault: faultText }, delivery);
    const isStream = reply.body.kind === 'stream';
    await deliver(response, reply, isStream ? withGap(fault, options.gap) : fault, delivery);
  };

  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    receive(request, response).catch((error: unknown) => {
      process.stderr.write(`simulator: ${error instanceof Error ? error.stack : String(error)}\n`);
      response.destroy();
    });
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const address = await listen(server, options.port ?? 0, options.host ?? '127.0.0.1');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${host}:${address.port}`,
    port: address.port,
    requests: log.list,
    clear,
    setFault(text) {
      standingFault = checkedFault(text);
    },
    setLookFault,
    tasks: tasks.list,
    advance: tasks.clock.advance,
    connections: () => sockets.size,
    aborted: () => aborted,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** @throws TypeError for an unknown fault */
function checkedFault(text: string): string {
  const parsed = parseFault(text);
  if (typeof parsed === 'string') throw new TypeError(parsed);
  return text;
}

const uncached: ReplyCache = (_request, _target, _fault, produce) => produce();

function withGap<T extends { readonly gap?: number }>(fault: T, gap: number | undefined): T {
  return gap === undefined || gap === 0 || fault.gap !== undefined ? fault : { ...fault, gap };
}

async function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return server.address() as AddressInfo;
}

interface Own {
  log(): ReceivedRequest[];
  clear(): void;
  counts(): { readonly open: number; readonly aborted: number };
  tasks(): readonly ListedTask[];
  advance(milliseconds: number): void;
  setLookFault(text: string): void;
}

/** The simulator's own paths, which no vendor has. They are not logged. */
function answerOwn(request: IncomingMessage, response: ServerResponse, own: Own): boolean {
  const ownPages: Readonly<Record<string, () => unknown>> = {
    'GET /health': () => ({ status: 'ok' }),
    'GET /__requests': own.log,
    'GET /__connections': own.counts,
    'GET /__tasks': own.tasks,
    'DELETE /__requests': () => {
      own.clear();
      return { status: 'cleared' };
    },
  };
  const page = ownPages[`${request.method} ${request.url}`] ?? settingAt(request, own);
  if (!page) return false;
  request.resume();
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(page()));
  return true;
}

/** `POST /__clock?advance=MS` and `POST /__look-fault?is=TEXT`, for tests that run the simulator as a process. */
function settingAt(request: IncomingMessage, own: Own): (() => unknown) | undefined {
  if (request.method !== 'POST') return undefined;
  const [path = '', search = ''] = (request.url ?? '').split('?', 2);
  const query = new URLSearchParams(search);
  const milliseconds = Number(query.get('advance') ?? Number.NaN);
  if (path === '/__clock' && Number.isSafeInteger(milliseconds) && milliseconds >= 0) {
    return () => {
      own.advance(milliseconds);
      return { status: 'advanced' };
    };
  }
  const text = query.get('is');
  if (path !== '/__look-fault' || text === null || typeof parseFault(text) === 'string') {
    return undefined;
  }
  return () => {
    own.setLookFault(text);
    return { status: 'set' };
  };
}
