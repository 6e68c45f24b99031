import { Pool, type Dispatcher } from 'undici';
import type { Timeouts } from '#config/index.ts';
import type { Signer } from '#vendors/index.ts';
import { type UpstreamCall, UpstreamError, type UpstreamListener } from './call.ts';
import { CallHandler } from './call-handler.ts';
import { createConnector } from './connector.ts';
import { createNameCache } from './name-cache.ts';
import { noProxies, type Proxies } from './proxies.ts';
import { createProxyAgent } from './proxy-agent.ts';
import { isOfTheLink, watchedLookup } from './watched-lookup.ts';

/** A body that is sent in pieces. */
export interface UpstreamPieces {
  readonly length: number;
  /** All bytes from the first one. A piece is not used any more once the next one is asked for. */
  read(): AsyncIterable<Buffer>;
}

export interface UpstreamRequest {
  /** Scheme, host, port. */
  readonly origin: string;
  readonly path: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Lower-case names. */
  readonly headers: Record<string, string>;
  readonly body: Buffer | UpstreamPieces | null;
  /** Adds headers before the request is sent, in at most the time for connecting. Absent: it is sent at once. */
  readonly signer?: Signer | undefined;
  readonly timeouts: Timeouts;
  /**
   * The request gets a connection that serves no other, so that it cannot get lost because the upstream closes an idle one.
   * Absent: connections are shared.
   */
  readonly ownConnection?: boolean;
  /** The channel's: the URL of a proxy, or `direct`. Null or absent: the environment decides. */
  readonly proxy?: string | null;
}

export interface UpstreamClient {
  /** Starts a call. The listener receives everything, including a failure to connect. */
  send(request: UpstreamRequest, listener: UpstreamListener): UpstreamCall;
  close(): Promise<void>;
}

export interface UpstreamClientOptions {
  /** Connections per origin; further requests wait in the pool. */
  readonly maxConnections: number;
  /**
   * Receives an error that a listener threw: a defect of the gateway, which must not be blamed on the upstream
   * silently.
   */
  readonly onDefect: (error: Error) => void;
  /** Absent: only the proxies that requests name. */
  readonly proxies?: Proxies;
  /**
   * For a client that tries a channel: is called with each step of a connection. Then nothing is sent to the local link.
   * Absent: steps are not watched. Through a proxy, `connect` and `tls` are not seen.
   */
  readonly onStep?: (step: ConnectionStep) => void;
}

/** What has been done for a connection: its name has an address, it is there, its TLS is. */
export type ConnectionStep = 'resolve' | 'connect' | 'tls';

/** A pool that was unused for this long is closed; its connections were closed after seconds anyway. */
const forgetAfterMs = 60_000;

interface UsedPool {
  readonly dispatcher: Dispatcher;
  /** Null until a proxy is first asked for the origin. */
  pool: Pool | null;
  /** Whether it was used since the last check. */
  wasUsed: boolean;
}

/**
 * Keep-alive pools, one per origin, connect time-out and proxy, and another one for requests with connections of their own. Idle
 * connections are closed before the five seconds usual for a Node upstream, so that the upstream rarely closes one in
 * use. The client does not know the channels: a pool that a reload left without requests is closed after a while, never
 * during a call.
 */
export function createUpstreamClient(options: UpstreamClientOptions): UpstreamClient {
  const pools = new Map<string, UsedPool>();
  const { maxConnections, proxies = noProxies, onStep } = options;
  const cachedLookup = createNameCache();
  const lookup =
    onStep === undefined ? cachedLookup : watchedLookup(cachedLookup, () => onStep('resolve'));

  const usual = {
    connections: maxConnections,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: 4_000,
    keepAliveTimeoutThreshold: 1_000,
    maxHeaderSize: 32 * 1024,
  };

  const dispatcherFor = (
    { origin, timeouts: { connect: connectTimeout }, proxy: own = null }: UpstreamRequest,
    ownConnection: boolean,
  ): Dispatcher => {
    const name = `${origin} ${connectTimeout} ${ownConnection} ${own}`;
    const usedPool = pools.get(name);
    if (usedPool !== undefined) {
      usedPool.wasUsed = true;
      return usedPool.dispatcher;
    }
    const proxy = proxies.of(origin, own);
    if (proxy === null) {
      const connect = createConnector(connectTimeout, lookup, onStep);
      const pool = new Pool(origin, { ...usual, connect });
      pools.set(name, { dispatcher: pool, pool, wasUsed: true });
      return pool;
    }
    const onPool = (pool: Pool): void => void (entry.pool = pool);
    const dispatcher = createProxyAgent(proxy, { pool: usual, connectTimeout, lookup, onPool });
    const entry: UsedPool = { dispatcher, pool: null, wasUsed: true };
    pools.set(name, entry);
    return dispatcher;
  };

  const forgetting = setInterval(() => {
    for (const [name, each] of pools) {
      if (!each.wasUsed && (each.pool?.stats.size ?? 0) === 0) {
        pools.delete(name);
        void each.dispatcher.close();
      }
      each.wasUsed = false;
    }
  }, forgetAfterMs).unref();

  const dispatch = (
    request: UpstreamRequest,
    headers: UpstreamRequest['headers'],
    handler: CallHandler,
    listener: UpstreamListener,
  ): void => {
    const { firstByte, streamIdle } = request.timeouts;
    const { body, length } = bodyForUndici(request.body);
    const { ownConnection = false } = request;
    try {
      dispatcherFor(request, ownConnection).dispatch(
        {
          origin: request.origin,
          ...(ownConnection && { reset: true }),
          path: request.path,
          method: request.method,
          headers: length === null ? headers : { ...headers, 'content-length': String(length) },
          body,
          headersTimeout: firstByte,
          bodyTimeout: streamIdle,
        },
        handler,
      );
    } catch (error) {
      // undici throws on invalid arguments, such as a header it will not send.
      handler.abort();
      listener.onBreak(new UpstreamError('not-sent', 'refused', error));
    }
  };

  const signAndDispatch = async (
    request: UpstreamRequest,
    signer: Signer,
    handler: CallHandler,
    listener: UpstreamListener,
  ): Promise<void> => {
    let signature: Readonly<Record<string, string>>;
    try {
      signature = await signatureOf(request, signer);
    } catch (error) {
      if (handler.isOver) return;
      handler.abort();
      listener.onBreak(new UpstreamError('not-sent', 'unsigned', error));
      return;
    }
    if (handler.isOver) return;
    dispatch(request, { ...request.headers, ...signature }, handler, listener);
  };

  return {
    send(request, listener) {
      if (onStep !== undefined && isOfTheLink(hostOf(request.origin))) {
        throw new Error('an address of the local link');
      }
      const { signer } = request;
      const { firstByte } = request.timeouts;
      if (signer === undefined) {
        const handler = new CallHandler(listener, options.onDefect, firstByte);
        dispatch(request, request.headers, handler, listener);
        return handler;
      }
      const signerListener = heardBy(signer, listener);
      const handler = new CallHandler(signerListener, options.onDefect, firstByte);
      signAndDispatch(request, signer, handler, signerListener).catch(options.onDefect);
      return handler;
    },
    async close() {
      clearInterval(forgetting);
      await Promise.all([...pools.values()].map(({ dispatcher }) => dispatcher.destroy()));
      pools.clear();
    },
  };
}

/** Without the brackets of an IPv6 address. */
const hostOf = (origin: string): string => new URL(origin).hostname.replaceAll(/[[\]]/g, '');

/** @throws Error if the signer fails, or takes longer than connecting may */
async function signatureOf(
  { origin, path, method, headers, body, timeouts }: UpstreamRequest,
  signer: Signer,
): Promise<Readonly<Record<string, string>>> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('signing took too long')), timeouts.connect);
  try {
    return await Promise.race([signer.sign({ method, url: origin + path, headers, body }), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The signer hears the status before the listener does. */
function heardBy(signer: Signer, listener: UpstreamListener): UpstreamListener {
  return {
    onHead(status, headers) {
      signer.onResponse(status);
      listener.onHead(status, headers);
    },
    onData: (chunk) => listener.onData(chunk),
    onEnd: () => listener.onEnd(),
    onBreak: (error) => listener.onBreak(error),
  };
}

/** For a smaller body, an iterator costs more than the memory is worth. */
const largeBytes = 16 * 1024;

/**
 * The body in the form that undici receives. undici keeps the body until the response has ended, which for a stream is
 * minutes after the upstream has received all of it. A large body is therefore wrapped so that it is empty once read.
 *
 * @returns the body and, if undici cannot see its length, the length in bytes
 */
export function bodyForUndici(body: Buffer | UpstreamPieces | null): {
  body: Buffer | null;
  length: number | null;
} {
  if (body === null) return { body, length: null };
  const { length } = body;
  // undici accepts any iterable; its types only know streams.
  if (!Buffer.isBuffer(body)) return { body: body.read() as unknown as Buffer, length };
  if (length < largeBytes) return { body, length: null };
  return { body: new BodyOnce(body) as unknown as Buffer, length };
}

class BodyOnce implements Iterable<Buffer> {
  #bytes: Buffer | null;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  *[Symbol.iterator](): Generator<Buffer> {
    const bytes = this.#bytes;
    this.#bytes = null;
    if (bytes !== null) yield bytes;
  }
}
