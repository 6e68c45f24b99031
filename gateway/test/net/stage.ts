import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createBilling } from '#billing/index.ts';
import { createSpool } from '#bodies/index.ts';
import { createBodyPool } from '#body-work/index.ts';
import type { Weights } from '#body-work/body-pool.ts';
import { buildSnapshot } from '#catalogue/build-snapshot.ts';
import type { CatalogueSnapshot } from '#catalogue/index.ts';
import { createConverter, createStateSealer, createStateStore } from '#conversion/index.ts';
import { surfaces } from '#endpoints/index.ts';
import { GatewayError } from '#errors/index.ts';
import { createSurfaces } from '#http/surface.ts';
import type { Caller } from '#identity/index.ts';
import type { Money } from '#limits/index.ts';
import { textCodecs, textProtocols, videoProtocols } from '#protocols/index.ts';
import {
  createDrainSlots,
  createItemMemory,
  createRelay,
  type ClientResponse,
  type RelayInput,
  type RelayParts,
  type Ticker,
} from '#relay/index.ts';
import { createChannelAffinity, createChannelHealth, type ChannelHealth } from '#routing/index.ts';
import {
  type BreakPoint,
  type UpstreamCall,
  type UpstreamClient,
  UpstreamError,
  type UpstreamListener,
  type UpstreamRequest,
} from '#upstream/index.ts';
import type { Modality } from './modalities.ts';

/** What is different for one ending. */
export interface StageOptions {
  /** What threads do. Default: what they do in a gateway. */
  readonly weights?: Weights;
  /** Nano-USD. Default: 100 USD. */
  readonly money?: bigint;
  /** There is no memory for more than the request. */
  readonly hasNoMemory?: boolean;
  /** `unusable`: nothing is admitted; `refuses`: rows cannot be made durable. */
  readonly journal?: 'unusable' | 'refuses';
  /** Where the gateway has a defect: as it sends a request, or as it writes to the client. */
  readonly defect?: 'send' | 'write';
  /** The requests stay in the gateway: they wait for a connection. */
  readonly isUnsent?: boolean;
  /** The request has a text of megabytes. */
  readonly isLarge?: boolean;
  /** Headers of the client besides those of the modality. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** 2027-01-15, 08:00 UTC. */
const startedAt = 1_800_000_000_000;
const timeouts = {
  connect: 10_000,
  firstByte: 120_000,
  imageFirstByte: 300_000,
  streamIdle: 60_000,
  total: 600_000,
  keepaliveComment: 15_000,
};

const spoolFolder = mkdtempSync(path.join(tmpdir(), 'sluice-net-'));
const stateKey = Buffer.alloc(32, 1);
const bodies = createBodyPool({
  size: 1,
  heap: 256,
  stateKey,
  store: createStateStore({ now: () => 0 }),
  onProblem: (error) => {
    throw error;
  },
});

export async function closeStages(): Promise<void> {
  await bodies.close();
  rmSync(spoolFolder, { recursive: true, force: true });
}

const shapes = createSurfaces(surfaces);

const caller: Caller = {
  keyId: 'key_net',
  keyName: 'net',
  userId: 'usr_net',
  teamId: null,
  user: { id: 'usr_net', funding: 10n ** 12n, quota: null },
  team: null,
  memberBudget: null,
  group: 'default',
  models: null,
  ips: [],
  expiresAt: null,
  quota: null,
  rpm: null,
  rph: null,
  maxConcurrency: null,
  conversion: 'lenient',
  capOutput: true,
  enabled: true,
};

/** One request in a relay whose surroundings a test plays: upstream, client, clock, money and journal. */
export class Stage {
  readonly #id: string;
  readonly #log = new Map<string, string[]>();
  readonly #modality: Modality;
  readonly #options: StageOptions;
  readonly #calls: PlayedCall[] = [];
  readonly #client: PlayedClient;
  readonly #ticking = new Set<Parameters<Ticker['add']>[0]>();
  #waiting: (() => void) | null = null;
  #now = 0;
  #running: Promise<void> | null = null;
  #isDone = false;

  /** @param id of the request; threads take requests with the same id for the same one */
  constructor(id: string, modality: Modality, options: StageOptions) {
    this.#id = id;
    this.#modality = modality;
    this.#options = options;
    this.#client = new PlayedClient(id, modality, this.note, options.defect === 'write');
  }

  readonly note = (section: string, line: string): void => {
    const lines = this.#log.get(section);
    if (lines === undefined) this.#log.set(section, [line]);
    else lines.push(line);
  };

  get client(): Pick<PlayedClient, 'leave' | 'stall' | 'drain'> {
    return this.#client;
  }

  /** Begins the exchange. */
  start(): void {
    const relay = createRelay(this.#parts());
    const { path: url, headers = {}, input, largeBody } = this.#modality;
    const body = this.#options.isLarge === true ? largeBody : this.#modality.body;
    const run: RelayInput = {
      ...input,
      id: this.#id,
      arrivedAt: startedAt,
      startedAt: 0,
      caller,
      pendingRateCheck: null,
      body: Buffer.from(JSON.stringify(body)),
      headers: { 'user-agent': 'net/1', ...headers, ...this.#options.headers },
      client: this.#client,
      memory: this.#memory(),
    } as RelayInput;
    this.#running = relay
      .run(run)
      .then(
        () => {},
        (error: unknown) => this.#client.failLate(error, url),
      )
      .finally(() => {
        this.#isDone = true;
        this.#waiting?.();
      });
  }

  /** The next call to the upstream, from 0; null: the exchange ends without it. */
  async call(at: number): Promise<PlayedCall | null> {
    while (this.#calls[at] === undefined && !this.#isDone) {
      await new Promise<void>((resolve) => (this.#waiting = resolve));
    }
    return this.#calls[at] ?? null;
  }

  /** Time passes, and the ticker calls. */
  pass(milliseconds: number): void {
    this.#now += milliseconds;
    for (const listener of this.#ticking) listener.tick(this.#now);
  }

  /** The gateway stops. */
  stop(): void {
    for (const listener of this.#ticking) listener.end(new GatewayError('unavailable'));
  }

  /** Waits for the end, and says what has happened. */
  async end(): Promise<string> {
    await this.#running;
    for (const [at, call] of this.#calls.entries()) {
      const { events } = call;
      if (events.length > 0) this.note('upstream', `call ${at + 1}: ${events.join(', ')}`);
    }
    this.#client.report();
    const sections = ['client', 'upstream', 'row', 'tasks', 'money', 'health', 'journal', 'log'];
    return sections
      .filter((name) => this.#log.has(name))
      .map((name) => `## ${name}\n${this.#log.get(name)?.join('\n')}\n`)
      .join('');
  }

  #parts(): RelayParts {
    const { note } = this;
    const now = () => startedAt + this.#now;
    const monotonic = () => this.#now;
    const clock = { now, monotonic };
    const { journal, money = 10n ** 11n } = this.#options;
    const append = async (record: object): Promise<void> => {
      note('row', readable(record));
      if (journal === 'refuses') throw new GatewayError('unavailable');
      this.#client.mark('the row is durable');
    };
    return {
      snapshot: () => snapshotOf(this.#modality),
      protocols: textProtocols,
      codecs: textCodecs,
      videos: {
        'video-synthesis': { ...videoProtocols['video-synthesis'], newTaskId: () => 'task_net' },
        'video-contents': { ...videoProtocols['video-contents'], newTaskId: () => 'task_net' },
      },
      tasks: {
        create: async ({ hold, caller: { keyId }, ...task }) => {
          note('tasks', `create ${readable({ ...task, keyId, hold: hold?.amount ?? null })}`);
          this.#client.mark('the task is stored');
          return { id: task.id };
        },
        accept: async ({ id }, { channel, ...accepted }) => {
          note('tasks', `accept ${id} ${readable({ ...accepted, channel: channel.name })}`);
          if (journal === 'refuses') throw new GatewayError('unavailable');
        },
        refuse: async ({ id }, { error, ...refusal }) => {
          note('tasks', `refuse ${id} ${readable({ ...refusal, error: error.errorName })}`);
        },
      },
      checksAudio: false,
      estimator: { estimate: async () => 7, close: async () => {} },
      converter: createConverter({
        protocols: textProtocols,
        codecs: textCodecs,
        sealer: createStateSealer(stateKey, (length) => Buffer.alloc(length, 7)),
        store: createStateStore({ now: monotonic }),
      }),
      items: createItemMemory({ now: monotonic, maxBytes: 1_000_000 }),
      bodies: { ...bodies, weights: this.#options.weights ?? bodies.weights },
      spool: createSpool({
        directory: spoolFolder,
        limit: 2 ** 30,
        memory: 2 ** 26,
        monotonic,
        onProblem: (error) => note('log', `spool: ${error.message}`),
        onRecovery: () => {},
      }),
      upstream: this.#upstream(),
      health: this.#health(),
      affinity: createChannelAffinity(),
      upstreamState: {
        digest: (kind, text) => `${kind}:${text}`,
        note: ({ id }) => note('log', `remembers ${id}`),
        recall: () => ({ is: 'unknown' }),
        find: async (_owner, ids) => new Map(ids.map((id) => [id, { is: 'unknown' }])),
      },
      keepStateFor: 1_000,
      onRefusedState: ({ kind }) => note('log', `refused a ${kind}`),
      journal: {
        append,
        begin: ({ attempt, channel, held }) =>
          note('journal', `attempt ${attempt} at ${channel}, ${held} held`),
        usable: journal !== 'unusable',
        unpaidFor: () => null,
      },
      revisions: { isOutdated: false },
      billing: createBilling({ money: playedMoney(money, note), now }),
      timeouts,
      keepsErrorTexts: true,
      ticker: {
        add: (listener) => {
          this.#ticking.add(listener);
          return { end: () => void this.#ticking.delete(listener) };
        },
        endAll: () => {},
        close: () => {},
      },
      drains: createDrainSlots(100),
      missingUsage: 'estimate',
      capOutput: true,
      overshoot: 1_000_000n,
      fetchMedia: () => Promise.reject(new Error('nothing is fetched here')),
      clock,
      observer: {
        opened: (kind) => note('log', `opened ${kind}`),
        closed: (kind) => note('log', `closed ${kind}`),
        finished: ({ record: { outcome, status, error }, bodyDigest }) =>
          note('log', `finished ${outcome} ${status} ${error} ${bodyDigest}`),
      },
      random: () => 0.5,
      digestBody: (body) => createHash('sha256').update(body).digest('hex').slice(0, 8),
      onUnexpectedError: (error) => note('log', `defect: ${String(error)}`),
    };
  }

  #upstream(): UpstreamClient {
    return {
      send: (request, listener) => {
        if (this.#options.defect === 'send') throw new TypeError('a defect of the net');
        const call = new PlayedCall(listener, {
          sent: this.#options.isUnsent !== true,
          modality: this.#modality,
          onDefect: (error) => this.note('log', `defect: ${String(error)}`),
        });
        void this.#record(request).then(() => {
          this.#calls.push(call);
          this.#waiting?.();
        });
        return call;
      },
      close: async () => {},
    };
  }

  async #record({ origin, path: at, method, headers, body }: UpstreamRequest): Promise<void> {
    const pieces: Buffer[] = [];
    if (Buffer.isBuffer(body)) pieces.push(body);
    else if (body !== null) for await (const piece of body.read()) pieces.push(Buffer.from(piece));
    this.note(
      'upstream',
      [`${method} ${origin}${at}`, ...headerLines(headers), short(Buffer.concat(pieces))].join(
        '\n',
      ),
    );
  }

  #health(): ChannelHealth {
    const { note } = this;
    const health = createChannelHealth(({ channel, message }) =>
      note('health', `${channel} ${message}`),
    );
    return {
      ...health,
      lease(route, retry, mayFailOver, now, wanted) {
        const lease = health.lease(route, retry, mayFailOver, now, wanted);
        const said = lease.admitted ? 'leased' : lease.reason;
        note('health', `${route.channel.name} ${said}${retry ? ', a retry' : ''}`);
        return lease;
      },
      reportBegin(lease, route, now) {
        note('health', `${route.channel.name} has begun`);
        health.reportBegin(lease, route, now);
      },
      reportOutcome(lease, route, result, now) {
        note('health', `${route.channel.name} ended: ${readable(result)}`);
        health.reportOutcome(lease, route, result, now);
      },
      took(lease, kind, milliseconds) {
        note('health', `took ${kind} ${milliseconds}`);
        health.took(lease, kind, milliseconds);
      },
    };
  }

  #memory(): NonNullable<RelayInput['memory']> {
    const { hasNoMemory = false } = this.#options;
    return {
      tryResponse: (bytes) => bytes === 0 || !hasNoMemory,
      tryMore: (bytes) => bytes <= 0 || !hasNoMemory,
      refuse: () => new GatewayError('unavailable', { retryAfter: 1 }),
      takeParsed: () => {},
      forgetBody: () => {},
      release: () => {},
    };
  }
}

interface CallOptions {
  readonly sent: boolean;
  readonly modality: Modality;
  readonly onDefect: (error: unknown) => void;
}

/** A request at an upstream. It reports defects of its listener as the real client does. */
export class PlayedCall implements UpstreamCall {
  readonly isSent: boolean;
  /** What the gateway has done with it. */
  readonly events: string[] = [];
  readonly #listener: UpstreamListener;
  readonly #options: CallOptions;
  #isOver = false;
  #hasHead = false;

  constructor(listener: UpstreamListener, options: CallOptions) {
    this.#listener = listener;
    this.#options = options;
    this.isSent = options.sent;
  }

  pause(): void {
    this.events.push('paused');
  }

  resume(): void {
    this.events.push('resumed');
  }

  abort(): void {
    if (!this.#isOver) this.events.push('aborted');
    this.#isOver = true;
  }

  head(status = 200, headers = this.#options.modality.response.headers): this {
    this.#hasHead = true;
    return this.#tell(() =>
      this.#listener.onHead(status, { ...headers, 'x-request-id': 'upstream-1' }),
    );
  }

  data(...pieces: readonly string[]): this {
    for (const piece of pieces) this.#tell(() => this.#listener.onData(Buffer.from(piece)));
    return this;
  }

  end(): void {
    this.#tell(() => this.#listener.onEnd());
    this.#isOver = true;
  }

  break(point: BreakPoint, reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.onBreak(new UpstreamError(point, reason, null));
  }

  /** A whole response without fault. */
  complete(): void {
    this.head()
      .data(...this.#options.modality.response.pieces)
      .end();
  }

  #tell(call: () => void): this {
    if (this.#isOver) return this;
    try {
      call();
    } catch (error) {
      this.#options.onDefect(error);
      this.break(this.#hasHead ? 'started' : 'uncertain', 'defect');
    }
    return this;
  }
}

/** A client, with the error responses that `http` writes. */
class PlayedClient implements ClientResponse {
  failedWith: GatewayError | null = null;
  headSent = false;
  disconnected = false;
  readonly halfClosed = false;
  readonly #id: string;
  readonly #modality: Modality;
  readonly #note: (section: string, line: string) => void;
  readonly #isDefective: boolean;
  #isStalled = false;
  #hasEnded = false;
  #pieces: Buffer[] = [];
  #onLeave: () => void = () => {};
  #onDrain: () => void = () => {};

  constructor(
    id: string,
    modality: Modality,
    note: (section: string, line: string) => void,
    isDefective: boolean,
  ) {
    this.#id = id;
    this.#modality = modality;
    this.#note = note;
    this.#isDefective = isDefective;
  }

  leave(): void {
    if (this.#hasEnded) return;
    this.mark('the client leaves');
    this.#leave();
  }

  /** It reads nothing more, until it drains. */
  stall(): void {
    this.#isStalled = true;
  }

  drain(): void {
    this.#isStalled = false;
    this.#onDrain();
  }

  /** Something happens between the bytes. */
  mark(event: string): void {
    this.report();
    this.#note('client', `-- ${event} --`);
  }

  /** Notes the bytes since the last report. */
  report(): void {
    if (this.#pieces.length === 0) return;
    this.#note('client', short(Buffer.concat(this.#pieces)));
    this.#pieces = [];
  }

  start(status: number, headers: Readonly<Record<string, string>>): void {
    if (this.headSent) throw new Error('the response has already begun');
    this.headSent = true;
    this.#note('client', [String(status), ...headerLines(headers)].join('\n'));
  }

  write(bytes: Buffer | string): boolean {
    if (this.disconnected || this.#hasEnded) return true;
    if (this.#isDefective) throw new TypeError('a defect of the net');
    this.#pieces.push(Buffer.from(bytes));
    return !this.#isStalled;
  }

  end(bytes?: Buffer | string): void {
    if (this.disconnected || this.#hasEnded) return;
    if (this.#isDefective) throw new TypeError('a defect of the net');
    this.#hasEnded = true;
    if (bytes !== undefined) this.#pieces.push(Buffer.from(bytes));
    this.mark('end');
  }

  fail(error: GatewayError): void {
    if (this.headSent || this.disconnected) return;
    this.#respond(error);
    this.failedWith = error;
    this.headSent = true;
    this.#leave();
  }

  /** The relay threw this. */
  failLate(error: unknown, url: string): void {
    if (this.failedWith !== null) return;
    if (this.headSent) this.mark(`the connection is closed (${url}): ${String(error)}`);
    else if (error instanceof GatewayError) this.#respond(error);
    else this.#note('log', `defect: ${String(error)}`);
  }

  onDisconnect(listener: () => void): void {
    if (this.disconnected) queueMicrotask(listener);
    else this.#onLeave = listener;
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener;
  }

  #leave(): void {
    this.#hasEnded = true;
    this.disconnected = true;
    this.#onLeave();
  }

  #respond(error: GatewayError): void {
    const { path: url, headers = {} } = this.#modality;
    const shape = shapes.shapeOf({ method: 'POST', url, headers });
    const { entry, retryAfter } = error;
    const facts = { ...(retryAfter !== null && { 'retry-after': retryAfter }), ...error.headers };
    this.#note('client', [String(entry.status), ...headerLines(facts)].join('\n'));
    this.#pieces.push(Buffer.from(shape.encodeError(error, this.#id)));
    this.mark('end');
  }
}

/** A single meter that everything is taken from. */
function playedMoney(left: bigint, note: (section: string, line: string) => void): Money {
  const holds = new Map<string, bigint>();
  const hold: Money['hold'] = ({ id, amount, isExact = false, meters }) => {
    const held = amount < left ? amount : left;
    const denied = held === 0n || (isExact && held < amount);
    note('money', `hold ${id} ${amount}: ${denied ? 'denied' : held}`);
    if (denied) return { isHeld: false, denied: meters[0]?.name ?? '' };
    left -= held;
    holds.set(id, held);
    return { isHeld: true, amount: held };
  };
  return {
    hold,
    announceCharge(ids, _meters, cost) {
      note('money', `charge ${ids.join(' ')} ${cost}`);
      return null;
    },
    commitHold(id, spent) {
      note('money', `commit ${id} ${spent}`);
      left += (holds.get(id) ?? 0n) - spent;
      holds.delete(id);
    },
    taskBeginning(id) {
      note('money', `keep ${id}`);
      return null;
    },
    taskBegun: (id, outcome) => note('money', `kept ${id} ${outcome}`),
    taskEnding: async () => {},
    taskEnded: () => {},
    read: () => null,
    isAway: false,
    hasFailed: false,
    hasLeases: true,
    unleasedAmount: 0n,
    close: async () => {},
  };
}

const snapshots = new Map<string, CatalogueSnapshot>();

/** Two channels that serve the model, the first one preferred. */
function snapshotOf({ model, protocols }: Modality): CatalogueSnapshot {
  const name = [model, ...protocols].join(' ');
  const known = snapshots.get(name);
  if (known !== undefined) return known;
  const channels = ['first', 'second'].map((channel, at) => ({
    id: `ch_${channel}`,
    name: channel,
    provider: 'simulator' as const,
    baseUrl: `https://${channel}.test`,
    apiKeys: [`sk-${channel}`],
    protocols,
    groups: ['default'],
    models: [{ name: model, upstream: `${model}-at-${channel}` }],
    priority: 2 - at,
    weight: 1,
    userAgents: [],
    headers: {},
    timeouts: {},
    proxy: null,
    billsAfterCancel: false,
    cache: 'auto' as const,
    state: 'guarded' as const,
    sharedState: [],
    enabled: true,
    resetAt: null,
    owner: 'file' as const,
    createdAt: 0,
    updatedAt: 0,
    revision: 1,
  }));
  const built = buildSnapshot(
    { groups: [], channels, models: [], aliases: [] },
    { revision: 1, simulatorUrl: null, previous: null, onProblem: () => {} },
  );
  snapshots.set(name, built);
  return built;
}

/** Long texts are cut, with a digest of the whole. */
function short(bytes: Buffer): string {
  const text = bytes.toString().trimEnd();
  if (text.length <= 3_000) return text;
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
  return `${text.slice(0, 500)}\n… ${bytes.length} bytes, ${digest} …\n${text.slice(-500)}`;
}

function headerLines(headers: object): string[] {
  const sorted = Object.entries(headers).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return packed(sorted.map(([name, value]) => `${name}: ${String(value)}`));
}

/** The members of an object in JSON, as many in a line as fit. */
function readable(value: unknown): string {
  if (typeof value !== 'object' || value === null) return inJson(value);
  return packed(Object.entries(value).map(([name, each]) => `${name}=${inJson(each)}`)).join('\n');
}

function inJson(value: unknown): string {
  return JSON.stringify(value, (_name, each: unknown) => {
    if (each instanceof Set) return [...each];
    return typeof each === 'bigint' ? `${each}n` : each;
  });
}

function packed(parts: readonly string[]): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last === undefined || last.length + part.length > 110) lines.push(part);
    else lines[lines.length - 1] = `${last}  ${part}`;
  }
  return lines;
}
