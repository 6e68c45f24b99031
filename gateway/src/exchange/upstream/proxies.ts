import { BlockList, isIP, isIPv4 } from 'node:net';
import type { ProxySettings } from '#config/index.ts';

/** Finds the proxy for each request. */
export interface Proxies {
  /**
   * The URL of the proxy through which an origin is reached; null: directly.
   * @param own the setting of the channel; null: the environment decides
   */
  of(origin: string, own: string | null): string | null;
}

/** The value of a channel's `proxy` that overrides the environment. */
const direct = 'direct';

const usualPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** For networks without proxies. */
export const noProxies: Proxies = { of: (_origin, own) => (own === direct ? null : own) };

/** Proxies as `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` name them. */
export function createProxies({ http, https, direct: exceptions }: ProxySettings): Proxies {
  if (http === null && https === null) return noProxies;
  const rules = exceptions.map(ruleOf);
  return {
    of(origin, own) {
      if (own !== null) return own === direct ? null : own;
      const url = new URL(origin);
      const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
      const port = url.port === '' ? usualPorts[url.protocol] : url.port;
      if (rules.some((rule) => rule(host, port ?? ''))) return null;
      return url.protocol === 'https:' ? https : http;
    },
  };
}

type Rule = (host: string, port: string) => boolean;

/**
 * One entry of `NO_PROXY`: `*`, an address or a range of addresses, or a domain with all below it (`*.example.com`: only
 * what is below it), each with a port or for all ports.
 */
function ruleOf(entry: string): Rule {
  const [, bracketedHost, plain, port = ''] =
    /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [];
  const name = (bracketedHost ?? plain ?? entry).toLowerCase();
  const isFor = (requestedPort: string): boolean => port === '' || port === requestedPort;
  if (name === '*') return (_host, requestedPort) => isFor(requestedPort);
  const [address = '', bits] = name.split('/');
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  if (isIP(address) !== 0) {
    const range = new BlockList();
    range.addSubnet(address, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family);
    return (host, requestedPort) =>
      isFor(requestedPort) && isIP(host) !== 0 && range.check(host, isIPv4(host) ? 'ipv4' : 'ipv6');
  }
  const isBelowOnly = name.startsWith('*.');
  const domain = name.replace(/^\*?\./, '').replace(/\.$/, '');
  return (host, requestedPort) =>
    isFor(requestedPort) && (host.endsWith(`.${domain}`) || (host === domain && !isBelowOnly));
}
