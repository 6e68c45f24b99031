import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

export interface MediaNamesOptions {
  /** Name servers, with ports. Absent: those of the system. */
  readonly nameServers?: readonly string[];
  readonly hostsFile?: string;
}

/**
 * Resolves names that strangers chose: all addresses, none for a name that has none.
 * @throws if no name server responds, or the signal is aborted
 */
export type ResolveName = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

/** Milliseconds for the first query. The second one waits twice as long, which leaves time to fetch. */
const queryMs = 2_000;

/**
 * `getaddrinfo` cannot be cancelled, and a process has few places for it, which upstreams and the database need: a few
 * names that never resolve would hold all of them. So these names have a resolver of their own. It searches no domains,
 * so a short name never means a host of this network.
 */
export function createMediaNames(options: MediaNamesOptions = {}): ResolveName {
  const { nameServers, hostsFile = '/etc/hosts' } = options;
  return async (host, signal) => {
    const name = host.toLowerCase().replace(/\.$/, '');
    // RFC 6761: this machine, whatever a name server says.
    if (/(?:^|\.)localhost$/.test(name)) return [];
    const hostsAddresses = addressesIn(await textOf(hostsFile), name);
    if (hostsAddresses.length > 0) return hostsAddresses;
    signal.throwIfAborted();
    // One for each name: cancelling ends all queries of a resolver.
    const resolver = new Resolver({ timeout: queryMs, tries: 2 });
    if (nameServers !== undefined) resolver.setServers(nameServers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      const foundAddresses = answers.flatMap((each) =>
        each.status === 'fulfilled' ? each.value : [],
      );
      for (const each of answers) {
        if (foundAddresses.length === 0 && each.status === 'rejected') throw each.reason;
      }
      return foundAddresses;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };
}

/** A system without such a file knows no names by it. */
async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

function addressesIn(hosts: string, name: string): string[] {
  const foundAddresses: string[] = [];
  for (const line of hosts.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) !== 0 && names.some((each) => each.toLowerCase() === name)) {
      foundAddresses.push(address);
    }
  }
  return foundAddresses;
}
