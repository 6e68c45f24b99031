import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Addresses of the machine's own link, where clouds give out credentials: nobody's model is there. */
const ofTheLink = new BlockList();
ofTheLink.addSubnet('169.254.0.0', 16, 'ipv4');
ofTheLink.addSubnet('fe80::', 10, 'ipv6');
// The same of IPv4 as translators (RFC 6052), tunnels (RFC 3056) and old stacks write it in IPv6.
ofTheLink.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');
ofTheLink.addSubnet('2002:a9fe::', 32, 'ipv6');
ofTheLink.addSubnet('::a9fe:0', 112, 'ipv6');
// Metadata services of clouds that use other addresses: AWS over IPv6, Alibaba, Oracle.
ofTheLink.addAddress('fd00:ec2::254', 'ipv6');
ofTheLink.addAddress('100.100.100.200', 'ipv4');
ofTheLink.addAddress('192.0.0.192', 'ipv4');

/** Whether nothing may be sent to this address for a person who tries a channel. False for a name. */
export function isOfTheLink(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && ofTheLink.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** A look-up that finds no address of the link. @param onResolved is called when a name was found */
export function watchedLookup(lookup: LookupFunction, onResolved: () => void): LookupFunction {
  return (name, options, callback) =>
    lookup(name, options, (error, found, family) => {
      if (error === null) {
        const addresses = typeof found === 'string' ? [found] : found.map(({ address }) => address);
        if (addresses.some(isOfTheLink)) {
          callback(new Error(`${name} has an address of the local link`), found, family);
          return;
        }
        onResolved();
      }
      callback(error, found, family);
    });
}
