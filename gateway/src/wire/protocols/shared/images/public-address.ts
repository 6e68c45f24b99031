import { BlockList, isIP, isIPv4 } from 'node:net';

/**
 * Addresses that a stranger's URL must not reach: this machine, private and shared networks, link-local (cloud
 * metadata), documentation, multicast, reserved. Source: IANA special-purpose address registries (RFC 6890).
 */
const special4 = blockList('ipv4', [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]);

/** The only part of IPv6 that is public. NAT64, mapped and local addresses all lie outside. */
const global6 = blockList('ipv6', [['2000::', 3]]);

const special6 = blockList('ipv6', [
  // Protocol assignments, including Teredo with its embedded IPv4 addresses.
  ['2001::', 23],
  ['2001:db8::', 32],
  // 6to4 embeds an IPv4 address.
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
]);

/** @param address an IP address, IPv6 without brackets */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special4.check(address, 'ipv4');
  // Only link-local addresses have a zone (`fe80::1%eth0`).
  if (address.includes('%')) return false;
  return global6.check(address, 'ipv6') && !special6.check(address, 'ipv6');
}

/**
 * Whether the upstream may be asked to fetch an address: http or https, and not this machine or a private network by its
 * literal address or by a name that is reserved for them. Nothing is looked up.
 */
export function isPublicUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') return false;
  // The parser has turned every spelling of an IPv4 address into the usual one.
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (isIP(host) !== 0) return isPublicAddress(host);
  return host !== '' && !privateNames.some((name) => `.${host}`.endsWith(name));
}

/** Names that mean this machine or a private network: RFC 6761, 6762 and 8375; `internal`: ICANN, 2024. */
const privateNames = ['.localhost', '.local', '.home.arpa', '.internal'];

function blockList(
  family: 'ipv4' | 'ipv6',
  ranges: readonly (readonly [string, number])[],
): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of ranges) list.addSubnet(address, prefix, family);
  return list;
}
