import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { vendorFacts, type ProviderName } from '#vendors/index.ts';
import { trimTrailing } from './decimal.ts';

/** An address (`::1`) or a range (`10.0.0.0/8`). */
export function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  if (rest.length > 0 || isIP(address) === 0 || address.includes('%')) return false;
  if (prefix === undefined) return true;
  return /^(0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= (isIPv4(address) ? 32 : 128);
}

/** Whether one of the ranges contains all of this one, however both are written. */
export function isWithinRanges(range: string, ranges: readonly string[]): boolean {
  const inner = parseRange(range);
  return ranges.some((each) => {
    const outer = parseRange(each);
    if (outer.family !== inner.family || outer.prefix > inner.prefix) return false;
    const list = new BlockList();
    list.addSubnet(outer.address, outer.prefix, outer.family);
    return list.check(inner.address, inner.family);
  });
}

/** IPv4 in an address of IPv6, `::ffff:10.0.0.1`. */
const mappedPrefix = 96;

/** @param text of which {@link isAddressRange} is true */
function parseRange(text: string) {
  const [address = '', digits] = text.split('/');
  const family = isIPv4(address) ? ('ipv4' as const) : ('ipv6' as const);
  const prefix = digits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(digits);
  const mappedAddress = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  return mappedAddress === undefined || prefix < mappedPrefix
    ? { address, prefix, family }
    : { address: mappedAddress, prefix: prefix - mappedPrefix, family: 'ipv4' as const };
}

/** Parses `host:port`, with an IPv6 address in brackets; null if it is anything else. */
export function parseHostPort(text: string): { host: string; port: number } | null {
  const [, address, name, digits = ''] =
    /^(?:\[([^[\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = address ?? name;
  const isRight = address === undefined ? host !== undefined && isHost(host) : isIPv6(address);
  const port = Number(digits);
  return host !== undefined && isRight && port <= 65_535 ? { host, port } : null;
}

/** Whether a host of a URL is this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** An address or a host name. */
export function isHost(text: string): boolean {
  return isIP(text) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text);
}

/** Parses an http or https URL without credentials, query or fragment; null if it is anything else. */
export function parseHttpUrl(text: string): URL | null {
  const url = URL.canParse(text) && /^https?:\/\/[^/]/i.test(text) ? new URL(text) : null;
  if (url === null || url.username !== '' || url.password !== '') return null;
  return text.includes('?') || text.includes('#') || /\s/.test(text) ? null : url;
}

export const expectedProxy = 'the URL of a proxy, such as http://proxy.example.com:3128';

/**
 * Parses the URL of a proxy, `http://user:password@host:port`; null if it is anything else. A text without a scheme is
 * over http, as other programs read it.
 */
export function parseProxyUrl(text: string): string | null {
  const fullUrl = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(fullUrl) && /^https?:\/\/[^/]/i.test(fullUrl) ? new URL(fullUrl) : null;
  if (url === null || /\s/.test(text) || url.pathname + url.search + url.hash !== '/') return null;
  return isEncoded(url.username) && isEncoded(url.password) ? url.href : null;
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** A URL without its trailing slashes. */
export function trimUrl(url: URL): string {
  return trimTrailing(url.href, '/');
}

/** Appends the provider's version path to a URL without a path. A URL with a path stays as the operator wrote it. */
export function normaliseBaseUrl(url: URL, provider: ProviderName): string {
  const hasPath = /[^/]/.test(url.pathname);
  return trimUrl(url) + (hasPath ? '' : vendorFacts[provider].versionPath);
}

/** `sqlite:<file>`, `postgres://…` or `postgresql://…`. */
export function isStorageUrl(text: string): boolean {
  if (text.startsWith('sqlite:')) return /^sqlite:(?!\/\/)[^:\s][^\0]*$/.test(text);
  return (
    /^postgres(ql)?:\/\/\S+$/.test(text) && postgresUrls(text).every((url) => URL.canParse(url))
  );
}

/** The URLs of a PostgreSQL server for each host that one names, in their order: `postgres://a:5432,b:5432/sluice`. */
export function postgresUrls(url: string): string[] {
  const start = url.indexOf('://') + '://'.length;
  const length = url.slice(start).search(/[/?#]/);
  const end = length === -1 ? url.length : start + length;
  const authority = url.slice(start, end);
  const credentials = authority.slice(0, authority.lastIndexOf('@') + 1);
  const hosts = authority.slice(credentials.length).split(',');
  return hosts.map((host) => url.slice(0, start) + credentials + host + url.slice(end));
}

export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:/.test(text);
}

export function isRedisUrl(text: string): boolean {
  return /^rediss?:\/\/\S+$/.test(text) && URL.canParse(text);
}

/** Where finished videos are stored: `file:<folder>` or `s3://bucket/prefix`. */
export function isResultStorageUrl(text: string): boolean {
  return (
    /^file:[^\0]+$/.test(text) || /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/\S*)?$/.test(text)
  );
}
