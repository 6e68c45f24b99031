import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { onTestFinished } from 'vitest';
import type { Caller, KeyDirectory } from '#identity/index.ts';
import type { CatalogueSnapshot, Channel, Model } from '#catalogue/index.ts';
import { createMemoryMoney, createMemoryRates } from '#limits/index.ts';
import {
  registerEndpoints,
  surfaces,
  type EndpointOptions,
  type Health,
} from '#endpoints/index.ts';
import { createServer, type ServerOptions } from '#http/index.ts';
import { createBodyMemory } from '#bodies/index.ts';
import { createMetrics } from '#observability/index.ts';
import { createConcurrencyGate, type RelayInput, type Relay } from '#relay/index.ts';

export const key = 'sk-test-0123456789';
export const now = Date.UTC(2026, 10, 21);

export const caller: Caller = {
  keyId: 'key-1',
  keyName: 'test',
  userId: 'user-1',
  teamId: null,
  user: { id: 'user-1', funding: 100_000_000_000n, quota: null },
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

export interface Gateway {
  readonly port: number;
  readonly server: FastifyInstance;
  /** What the relay was given, in order. */
  readonly exchanges: RelayInput[];
  /** What was reported as unexpected. */
  readonly unexpected: unknown[];
  readonly keyLookups: string[];
}

export interface GatewaySettings {
  readonly server?: Partial<ServerOptions>;
  readonly caller?: Partial<Caller>;
  /** What the key directory answers; the caller for `key` by default. */
  readonly find?: KeyDirectory['find'];
  readonly run?: Relay['run'];
  readonly snapshot?: () => CatalogueSnapshot;
  readonly health?: () => Health;
  readonly usage?: EndpointOptions['usage'];
  readonly tasks?: Partial<EndpointOptions['tasks']>;
  readonly money?: EndpointOptions['money'];
  readonly memory?: EndpointOptions['memory'];
  readonly keyConcurrency?: EndpointOptions['keyConcurrency'];
  readonly refusals?: EndpointOptions['refusals'];
  readonly hasMoney?: EndpointOptions['hasMoney'];
  /** Why a request is refused for overload; default: none is. */
  readonly pressure?: (isLarge: boolean) => 'lag' | 'memory' | null;
  readonly routes?: (server: FastifyInstance, options: EndpointOptions) => void;
}

/** A listening gateway over fakes, closed with the test. */
export async function startGateway(settings: GatewaySettings = {}): Promise<Gateway> {
  const exchanges: RelayInput[] = [];
  const unexpected: unknown[] = [];
  const keyLookups: string[] = [];
  const known = { ...caller, ...settings.caller };
  const onUnexpectedError = (error: unknown): void => {
    unexpected.push(error);
  };
  const server = createServer({
    bodyLimit: 64 * 1024 * 1024,
    corsOrigins: ['*'],
    trustedProxies: [],
    tls: null,
    publicUrl: null,
    surfaces,
    onUnexpectedError,
    ...settings.server,
  });
  registerEndpoints([server], {
    relay: {
      run: async (input) => {
        exchanges.push(input);
        if (settings.run !== undefined) return settings.run(input);
        input.client.start(200, { 'content-type': 'application/json' });
        input.client.end('{"ok":true}');
      },
    },
    keys: {
      find: (secret) => {
        keyLookups.push(secret);
        if (settings.find !== undefined) return settings.find(secret);
        return secret === key ? known : null;
      },
    },
    memory:
      settings.memory ?? createBodyMemory({ limit: 2 ** 30, monotonic: () => performance.now() }),
    keyConcurrency: settings.keyConcurrency ?? 1_000,
    refusals: settings.refusals ?? { closedFor: () => null, note: () => {} },
    hasMoney: settings.hasMoney ?? (() => true),
    gate: createConcurrencyGate({
      inFlight: 1_000,
      queue: 0,
      pressure: settings.pressure ?? (() => null),
    }),
    usage: settings.usage ?? {
      sums: async () => [],
      spentSource: async () => new Map(),
      heldSource: async () => new Map(),
    },
    tasks: {
      find: async () => null,
      list: async () => ({ total: 0, tasks: [] }),
      remove: async () => null,
      findResult: async () => null,
      ...settings.tasks,
    },
    rates: createMemoryRates({ monotonic: () => performance.now(), liveNodes: () => 1 }),
    money:
      settings.money ??
      createMemoryMoney({
        now: () => now,
        monotonic: () => performance.now(),
        spentSource: async () => new Map(),
      }),
    snapshot: settings.snapshot ?? (() => snapshotOf([])),
    now: () => now,
    monotonic: () => performance.now(),
    health: settings.health ?? (() => ({ status: 'ok', degraded: [] })),
    metrics: createMetrics({
      journal: { depth: 0, usable: true, lost: 0, unfinished: 0 },
      bodyMemory: { usedBytes: 0, limit: 0, refused: 0 },
      spool: { usedBytes: 0, limit: 0, refused: 0 },
      server: () => ({ openConnections: async () => 0, waiting: 0, overloadRefusals: {} }),
      tasks: () => ({
        open: [],
        looks: {},
        lag: 0,
        expired: 0,
        lost: 0,
        uncertain: 0,
        results: { copied: 0, failed: 0 },
      }),
      channelStates: () => [],
      droppedLogLines: () => 0,
      uncaughtErrors: () => ({ exceptions: 0, rejections: 0 }),
      liveNodes: () => 1,
      freedLeases: () => 0,
      unleased: () => 0,
      degraded: () => [],
    }),
    metricsToken: null,
    onUnexpectedError,
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(async () => {
    server.server.closeAllConnections();
    await server.close();
  });
  const { port } = server.server.address() as AddressInfo;
  return { port, server, exchanges, unexpected, keyLookups };
}

export interface ClientResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Parsed body; null when it is not JSON. */
  readonly json: Record<string, never> | null;
}

export interface Call {
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Buffer;
}

/** One request on a connection of its own. */
export function call(port: number, path: string, options: Call = {}): Promise<ClientResponse> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      path,
      agent: false,
      method: options.method ?? (options.body === undefined ? 'GET' : 'POST'),
      headers: options.headers ?? {},
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: parse(text),
        });
      });
    });
    request.end(options.body);
  });
}

export function bearer(secret = key): Record<string, string> {
  return { authorization: `Bearer ${secret}` };
}

/** Sends bytes as they are and gives everything that came back until the connection closed. */
export function raw(port: number, bytes: string | Buffer, keepOpen = true): Promise<string> {
  return new Promise((resolve) => {
    const socket = open(port);
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(received));
    socket.on('end', () => socket.end());
    if (keepOpen) socket.write(bytes);
    else socket.end(bytes);
  });
}

export function open(port: number): Socket {
  return connect({ host: '127.0.0.1', port, allowHalfOpen: true });
}

export function model(id: string, overrides: Partial<Model> = {}): Model {
  return {
    id,
    type: 'chat',
    displayName: id.toUpperCase(),
    ownedBy: 'owner',
    contextWindow: 1000,
    maxOutputTokens: 100,
    capabilities: new Set(),
    echoReasoning: null,
    allow: new Set(),
    enabled: true,
    price: null,
    priceVersion: null,
    createdAt: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    ...overrides,
  };
}

/** A catalogue in which the group `default` serves every model given, and group `other` none. */
export function snapshotOf(
  models: readonly Model[],
  aliases: Readonly<Record<string, string>> = {},
): CatalogueSnapshot {
  const routes = [{ channel: {} as Channel, upstreamModel: 'up' }];
  return {
    revision: 1,
    models: new Map(models.map((entry) => [entry.id, entry])),
    aliases: new Map(Object.entries(aliases)),
    aliasPatterns: [],
    unusedModels: new Set(),
    groups: new Map([['default', { name: 'default', priceMultiplier: '1' }]]),
    channels: [],
    routes: new Map([['default', new Map(models.map(({ id }) => [id, routes]))]]),
  };
}

export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

function parse(text: string): Record<string, never> | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
