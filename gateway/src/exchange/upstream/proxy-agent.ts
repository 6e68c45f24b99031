import type { LookupFunction } from 'node:net';
import { errors, Pool, ProxyAgent, type buildConnector } from 'undici';
import { follow } from './connector.ts';

export interface ProxyAgentOptions {
  /** Options of the pools to the origin. */
  readonly pool: Pool.Options;
  /** Milliseconds until the connection through the proxy and its TLS are established. */
  readonly connectTimeout: number;
  /** For the proxy's own name. */
  readonly lookup?: LookupFunction;
  /** Requests over http go through a tunnel too. Default: the proxy gets them as its own. */
  readonly isTunnel?: boolean;
  /** The name that the certificate must be for. Default: the origin's. */
  readonly servername?: string;
  /** Called with each pool. */
  readonly onPool?: (pool: Pool) => void;
}

/**
 * undici's agent for a proxy. Its connections are limited in time, and followed as those without a proxy are.
 * @param proxy an http or https URL, with the credentials for the proxy
 */
export function createProxyAgent(proxy: string, options: ProxyAgentOptions): ProxyAgent {
  const { pool: poolOptions, connectTimeout, lookup, servername, onPool } = options;
  return new ProxyAgent({
    uri: proxy,
    allowH2: false,
    proxyTunnel: options.isTunnel === true,
    connectTimeout,
    proxyTls: { ...(lookup !== undefined && { lookup }) },
    ...(servername !== undefined && { requestTls: { servername } }),
    clientFactory: (url, own) =>
      new Pool(url, { ...own, allowH2: false, headersTimeout: connectTimeout }),
    factory(origin, own) {
      const { connect } = own as { readonly connect: buildConnector.connector };
      const pool = new Pool(origin, { ...poolOptions, connect: inTime(connect, connectTimeout) });
      onPool?.(pool);
      return pool;
    },
  });
}

/** A proxy may accept a connection and then say nothing. */
function inTime(connect: buildConnector.connector, timeout: number): buildConnector.connector {
  return (target, callback) => {
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      callback(new errors.ConnectTimeoutError(`no connection within ${timeout} ms`), null);
    }, timeout);
    connect({ ...target, allowH2: false } as buildConnector.Options, (...result) => {
      clearTimeout(timer);
      const [error, socket] = result;
      if (isOver) {
        socket?.destroy();
        return;
      }
      if (error === null) follow(socket);
      callback(...result);
    });
  };
}
