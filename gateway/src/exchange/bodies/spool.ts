import { createSpoolDisk, type SpoolDiskOptions } from './spool-disk.ts';
import { SpooledBody } from './spooled-body.ts';

/**
 * Room for large bodies: some memory, and files when it is full, in a folder of their own. The files have no names: they
 * disappear with the process, however it ends. Space is reserved before a request is sent, because a response without
 * room would have been paid for in vain.
 */
export interface Spool {
  /** Bytes. */
  readonly limit: number;
  /** Bytes reserved, or taken beyond that. */
  readonly usedBytes: number;
  /** Bytes in memory. */
  readonly keptBytes: number;
  /** Bodies for which there was no room, since the start. */
  readonly refused: number;
  /** Why no file can be written; null: they can, as far as is known. */
  problem(): Error | null;
  /**
   * Null if there is no room: less than these bytes below the limit, or on the disk beside what the journal needs. The
   * disk does not matter to a reservation of nothing.
   * @param owner the key whose request it is. Absent: no key, and no share
   */
  reserve(bytes: number, owner?: SpoolOwner): SpoolSpace | null;
}

/**
 * With several requests, one key may take half of the limit for these, and seven eighths with their responses. A single
 * request may take all of it, and so may its response.
 */
export interface SpoolOwner {
  readonly keyId: string;
  readonly of: 'request' | 'response';
}

/** What one request may put into files. */
export interface SpoolSpace {
  open(): SpooledBody;
  /** Releases its bodies too. Idempotent. */
  release(): void;
}

export interface SpoolOptions extends Omit<SpoolDiskOptions, 'stored'> {
  /** Bytes of all files. */
  readonly limit: number;
  /** Bytes of all bodies that are kept in memory instead. */
  readonly memory: number;
}

/** @throws Error with a message for the operator if the folder cannot be created, or emptied. */
export function createSpool({ limit, memory, ...options }: SpoolOptions): Spool {
  let usedBytes = 0;
  let storedBytes = 0;
  const disk = createSpoolDisk({ ...options, stored: () => storedBytes });
  let memoryBytes = 0;
  let refusals = 0;

  /** Bytes of each key. */
  const byKey = { request: new Map<string, number>(), response: new Map<string, number>() };
  const count = (bytes: number, owner: SpoolOwner | null): void => {
    if (owner !== null) add(byKey[owner.of], owner.keyId, bytes);
  };
  const take = (bytes: number, owner: SpoolOwner | null): boolean => {
    if (usedBytes + bytes > limit) return false;
    // What is reserved may not have been written yet.
    if (bytes > 0 && !disk.hasRoom(usedBytes + bytes)) return false;
    usedBytes += bytes;
    count(bytes, owner);
    return true;
  };
  const give = (bytes: number, owner: SpoolOwner | null): void => {
    usedBytes -= bytes;
    count(-bytes, owner);
  };
  const isBeyondShare = (bytes: number, owner: SpoolOwner | null): boolean => {
    if (owner === null) return false;
    const { keyId, of } = owner;
    const own = {
      request: byKey.request.get(keyId) ?? 0,
      response: byKey.response.get(keyId) ?? 0,
    };
    if (own[of] === 0) return false;
    if (of === 'request' && own.request + bytes > limit / 2) return true;
    return own.request + own.response + bytes > (limit * 7) / 8;
  };

  const keep = (bytes: number): boolean => {
    if (memoryBytes + bytes > memory) return false;
    memoryBytes += bytes;
    return true;
  };
  const forget = (bytes: number): void => {
    memoryBytes -= bytes;
  };

  return {
    limit,
    get keptBytes() {
      return memoryBytes;
    },
    get usedBytes() {
      return usedBytes;
    },
    get refused() {
      return refusals;
    },
    problem: disk.problem,
    reserve(bytes, owner) {
      const key = owner ?? null;
      if (isBeyondShare(bytes, key) || !take(bytes, key)) {
        refusals += 1;
        return null;
      }
      const bodies: SpooledBody[] = [];
      /** Bytes of the reservation, and those in files. */
      let reservedBytes = bytes;
      let writtenBytes = 0;
      let isReleased = false;
      const grow = (more: number): boolean => {
        if (isReleased) return false;
        const missingBytes = writtenBytes + more - reservedBytes;
        if (missingBytes > 0) {
          if (!take(missingBytes, key)) {
            refusals += 1;
            return false;
          }
          reservedBytes += missingBytes;
        }
        writtenBytes += more;
        storedBytes += more;
        return true;
      };
      return {
        open() {
          const body = new SpooledBody({
            newFile: disk.newFile,
            keep,
            grow,
            forget,
            onFailure: disk.failed,
          });
          bodies.push(body);
          return body;
        },
        release() {
          if (isReleased) return;
          isReleased = true;
          give(reservedBytes, key);
          storedBytes -= writtenBytes;
          for (const body of bodies) body.release();
        },
      };
    },
  };
}

function add(sums: Map<string, number>, key: string, bytes: number): void {
  const sum = (sums.get(key) ?? 0) + bytes;
  if (sum > 0) sums.set(key, sum);
  else sums.delete(key);
}
