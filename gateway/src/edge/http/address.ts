import { BlockList, isIP, isIPv4 } from 'node:net';

/**
 * An IP address in its canonical spelling; an IPv4 address mapped into IPv6 becomes IPv4. Null if it is not an address.
 * Allowlists that compare other spellings can be bypassed.
 */
export function canonicalAddress(text: string): string | null {
  if (isIPv4(text)) return text;
  if (isIP(text) !== 6 || text.includes('%')) return null;
  const canonical = new URL(`http://[${text}]/`).hostname.slice(1, -1);
  return mappedIpv4(canonical) ?? canonical;
}

/**
 * What one customer of a provider has: the address itself, of IPv6 the first 64 bits, within which anybody may choose.
 * @param address canonical
 */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address;
  const [before = '', after] = address.split('::');
  const head = before.split(':').filter((group) => group !== '');
  const tail = (after ?? '').split(':').filter((group) => group !== '');
  const zeros = after === undefined ? 0 : 8 - head.length - tail.length;
  const groups = [...head, ...Array<string>(zeros).fill('0'), ...tail];
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** `::ffff:102:304` → `1.2.3.4`. */
function mappedIpv4(canonical: string): string | null {
  const groups = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical);
  if (groups === null) return null;
  const high = Number.parseInt(groups[1] ?? '', 16);
  const low = Number.parseInt(groups[2] ?? '', 16);
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** A set of addresses; expects canonical ones. */
export interface AddressSet {
  has(address: string): boolean;
}

/** The set of all addresses and CIDRs in `entries`. Any other entry adds nothing. */
export function createAddressSet(entries: readonly string[]): AddressSet {
  const v4 = new BlockList();
  const v6 = new BlockList();
  for (const entry of entries) {
    const range = parseRange(entry.trim());
    if (range === null) continue;
    const { address, prefix } = range;
    if (isIPv4(address)) v4.addSubnet(address, prefix, 'ipv4');
    else v6.addSubnet(address, prefix, 'ipv6');
  }
  return {
    has: (address) => (isIPv4(address) ? v4.check(address, 'ipv4') : v6.check(address, 'ipv6')),
  };
}

function parseRange(entry: string): { address: string; prefix: number } | null {
  const slash = entry.indexOf('/');
  const addressText = slash === -1 ? entry : entry.slice(0, slash);
  const address = canonicalAddress(addressText);
  if (address === null) return null;
  const v4 = isIPv4(address);
  const widest = v4 ? 32 : 128;
  if (slash === -1) return { address, prefix: widest };
  const digits = entry.slice(slash + 1);
  if (!/^\d{1,3}$/.test(digits)) return null;
  const prefix = Number(digits) - (v4 && !isIPv4(addressText) ? 96 : 0);
  return prefix >= 0 && prefix <= widest ? { address, prefix } : null;
}
