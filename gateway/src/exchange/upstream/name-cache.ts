import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** For so long nobody asks again: a change of address is followed within it. */
const freshMs = 30_000;
/** A resolver that fails is no reason to stop: the last addresses are used for so long. */
const staleMs = 10 * 60_000;
/** A resolver that says nothing must not use up the time in which a connection has to stand. */
const patienceMs = 500;

type Answer = (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void;

export interface NameCacheOptions {
  /** Asks the system for every address of a name. */
  readonly resolve?: (name: string, answer: Answer) => void;
  /** Milliseconds of a clock that never steps. */
  readonly monotonic?: () => number;
}

interface Known {
  addresses: readonly LookupAddress[];
  /** When they were found. */
  at: number;
  /** Who waits for the question that is out; null when none is. */
  waiting: Answer[] | null;
  /** That question has been out for longer than the patience. */
  overdue: boolean;
}

/**
 * Looks up names for connections (`net.connect`'s `lookup`): one question per name at a time and at most one per half
 * minute, and old answers when there are no new ones in time. The names are the operator's channels, so there are few.
 */
export function createNameCache(options: NameCacheOptions = {}): LookupFunction {
  const { resolve = askSystem, monotonic = () => performance.now() } = options;
  const known = new Map<string, Known>();

  function addressesOf(name: string, answer: Answer): void {
    let entry = known.get(name);
    if (entry === undefined)
      known.set(name, (entry = { addresses: [], at: -Infinity, waiting: null, overdue: false }));
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
      const found = error === null && addresses.length > 0;
      if (found) {
        entry.addresses = addresses;
        entry.at = monotonic();
      }
      const usable = found || ageOf(entry) < staleMs;
      if (!usable) known.delete(name);
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
      const wanted = addresses.filter((each) => !family || isFamily(each, family));
      const [first] = wanted;
      if (first === undefined) callback(notFound(name), '', 0);
      else if (all === true) callback(null, wanted);
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
