import { Pool } from 'undici';
import type { Timeouts } from '../config/index.ts';
import { CallHandler, type UpstreamCall, type UpstreamListener } from './call.ts';
import { createConnector } from './connector.ts';
import { createNameCache } from './name-cache.ts';
import { UpstreamError } from './upstream-error.ts';

export interface UpstreamRequest {
  /** Scheme, host, port. */
  readonly origin: string;
  readonly path: string;
  readonly method: 'GET' | 'POST';
  /** Lower-case names. */
  readonly headers: Record<string, string>;
  readonly body: Buffer | null;
  readonly timeouts: Timeouts;
}

export interface UpstreamClient {
  /** Starts a call. The listener hears of everything, also of a connection that cannot be made. */
  send(request: UpstreamRequest, listener: UpstreamListener): UpstreamCall;
  close(): Promise<void>;
}

export interface UpstreamClientOptions {
  /** Connections per origin; beyond it requests wait in the pool. */
  readonly maxConnections: number;
}

/**
 * Keep-alive pools, one per origin and connect time-out. Idle connections live shorter than the usual five
 * seconds of a Node upstream, so that few are closed under our hands.
 */
export function createUpstreamClient(options: UpstreamClientOptions): UpstreamClient {
  const pools = new Map<string, Pool>();
  const lookup = createNameCache();

  const poolFor = (origin: string, connectTimeout: number): Pool => {
    const name = `${origin} ${connectTimeout}`;
    let pool = pools.get(name);
    if (pool === undefined) {
      pool = new Pool(origin, {
        connections: options.maxConnections,
        pipelining: 1,
        allowH2: false,
        connect: createConnector(connectTimeout, lookup),
        keepAliveTimeout: 4_000,
        keepAliveTimeoutThreshold: 1_000,
        maxHeaderSize: 32 * 1024,
      });
      pools.set(name, pool);
    }
    return pool;
  };

  return {
    send(request, listener) {
      const handler = new CallHandler(listener);
      try {
        poolFor(request.origin, request.timeouts.connect).dispatch(
          {
            path: request.path,
            method: request.method,
            headers: request.headers,
            body: request.body,
            headersTimeout: request.timeouts.firstByte,
            bodyTimeout: request.timeouts.streamIdle,
          },
          handler,
        );
      } catch (error) {
        // undici refuses invalid arguments (a header it will not send) by throwing.
        handler.abort();
        listener.onBreak(new UpstreamError('not-sent', 'refused', error));
      }
      return handler;
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
      pools.clear();
    },
  };
}
