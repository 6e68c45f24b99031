import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** A result is not refreshed for this long, so a change of address takes effect within it. */
const freshMs = 30_000;
/** If the resolver fails, the last addresses are used for this long. */
const staleMs = 10 * 60_000;
/** An unresponsive resolver must not use up the connect time-out. */
const patienceMs = 500;

type Answer = (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void;

export interface NameCacheOptions {
  /** Resolves all addresses of a name through the system. */
  readonly resolve?: (name: string, answer: Answer) => void;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic?: () => number;
}

interface Known {
  addresses: readonly LookupAddress[];
  /** When the addresses were found. */
  at: number;
  /** Callers that wait for the pending query; null if none is pending. */
  waiting: Answer[] | null;
  /** Whether the pending query has exceeded `patienceMs`. */
  overdue: boolean;
}

/**
 * Resolves names for connections (`net.connect`'s `lookup`): one query per name at a time, at most one per half minute,
 * and stale addresses if there are no new ones in time. The names come from the operator's channels, so there are few.
 */
export function createNameCache(options: NameCacheOptions = {}): LookupFunction {
  const { resolve = askSystem, monotonic = () => performance.now() } = options;
  const cachedNames = new Map<string, Known>();

  function addressesOf(name: string, answer: Answer): void {
    let entry = cachedNames.get(name);
    if (entry === undefined)
      cachedNames.set(
        name,
        (entry = { addresses: [], at: -Infinity, waiting: null, overdue: false }),
      );
    const isEnough = ageOf(entry) < (entry.overdue ? staleMs : freshMs);
    if (isEnough) answer(null, entry.addresses);
    else if (entry.waiting === null) ask(name, entry, answer);
    else entry.waiting.push(answer);
  }

  const ageOf = ({ at }: Known): number => monotonic() - at;

  function ask(name: string, entry: Known, first: Answer): void {
    entry.waiting = [first];
    const late = setTimeout(() => {
      if (ageOf(entry) >= staleMs) return;
      entry.overdue = true;
      for (const answer of entry.waiting?.splice(0) ?? []) answer(null, entry.addresses);
    }, patienceMs).unref();
    resolve(name, (error, addresses) => {
      clearTimeout(late);
      const waiting = entry.waiting ?? [];
      entry.waiting = null;
      entry.overdue = false;
      const hasAddresses = error === null && addresses.length > 0;
      if (hasAddresses) {
        entry.addresses = addresses;
        entry.at = monotonic();
      }
      const usable = hasAddresses || ageOf(entry) < staleMs;
      if (!usable) cachedNames.delete(name);
      for (const answer of waiting) {
        if (usable) answer(null, entry.addresses);
        else answer(error ?? notFound(name), []);
      }
    });
  }

  return (name, { all, family }, callback) => {
    addressesOf(name, (error, addresses) => {
      if (error !== null) {
        callback(error, '', 0);
        return;
      }
      const familyAddresses = addresses.filter((each) => !family || isFamily(each, family));
      const [first] = familyAddresses;
      if (first === undefined) callback(notFound(name), '', 0);
      else if (all === true) callback(null, familyAddresses);
      else callback(null, first.address, first.family);
    });
  };
}

function askSystem(name: string, answer: Answer): void {
  systemLookup(name, { all: true }, answer);
}

function isFamily(address: LookupAddress, family: number | string): boolean {
  return family === address.family || family === `IPv${address.family}`;
}

function notFound(name: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
}
