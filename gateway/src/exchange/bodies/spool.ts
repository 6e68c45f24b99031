import { mkdirSync, rmSync, statfsSync } from 'node:fs';
import path from 'node:path';
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
  readonly used: number;
  /** Bytes in memory. */
  readonly kept: number;
  /**
   * Null if there is no room: less than these bytes below the limit, or on the disk beside what the journal needs.
   * @param keyId a key that sends the bytes: its bodies get at most half of the limit, or one body all of it
   */
  reserve(bytes: number, keyId?: string): SpoolSpace | null;
}

/** What one request may put into files. */
export interface SpoolSpace {
  open(): SpooledBody;
  /** Releases its bodies too. Idempotent. */
  release(): void;
}

export interface SpoolOptions {
  /** Is emptied. Nothing else may be in it. */
  readonly directory: string;
  /** Bytes of all files. */
  readonly limit: number;
  /** Bytes of all bodies that are kept in memory instead. */
  readonly memory: number;
  /** Milliseconds. */
  readonly monotonic: () => number;
}

/** How long a look at the disk is good for, in milliseconds. */
const lookEvery = 1_000;
const gibibyte = 2 ** 30;

/** @throws Error if the folder cannot be created. */
export function createSpool({ directory, limit, memory, monotonic }: SpoolOptions): Spool {
  // A process that was killed between creating a file and removing its name has left it.
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  let used = 0;
  let kept = 0;
  let files = 0;

  let lookedAt = -Infinity;
  let free = 0;
  const isOnDisk = (bytes: number): boolean => {
    if (monotonic() - lookedAt >= lookEvery) {
      const { bavail, blocks, bsize } = statfsSync(directory);
      free = bavail * bsize - Math.min(gibibyte, Math.floor((blocks * bsize) / 10));
      lookedAt = monotonic();
    }
    // What is reserved may not have been written yet.
    return free >= used + bytes;
  };

  /** Bytes of the keys that send bodies. */
  const byKey = new Map<string, number>();
  const take = (bytes: number, keyId: string | null): boolean => {
    if (used + bytes > limit) return false;
    used += bytes;
    if (keyId !== null) byKey.set(keyId, (byKey.get(keyId) ?? 0) + bytes);
    return true;
  };
  const give = (bytes: number, keyId: string | null): void => {
    used -= bytes;
    if (keyId === null) return;
    const left = (byKey.get(keyId) ?? 0) - bytes;
    if (left > 0) byKey.set(keyId, left);
    else byKey.delete(keyId);
  };
  const isBeyondShare = (bytes: number, keyId: string | null): boolean => {
    const own = keyId === null ? 0 : (byKey.get(keyId) ?? 0);
    return own > 0 && own + bytes > limit / 2;
  };

  const keep = (bytes: number): boolean => {
    if (kept + bytes > memory) return false;
    kept += bytes;
    return true;
  };
  const forget = (bytes: number): void => {
    kept -= bytes;
  };

  return {
    limit,
    get kept() {
      return kept;
    },
    get used() {
      return used;
    },
    reserve(bytes, keyId) {
      const key = keyId ?? null;
      if (isBeyondShare(bytes, key) || !isOnDisk(bytes) || !take(bytes, key)) return null;
      const bodies: SpooledBody[] = [];
      /** Bytes of the reservation, and those in files. */
      let reserved = bytes;
      let written = 0;
      let isReleased = false;
      const grow = (more: number): boolean => {
        const missing = written + more - reserved;
        if (missing > 0) {
          if (isReleased || !take(missing, key)) return false;
          reserved += missing;
        }
        written += more;
        return true;
      };
      return {
        open() {
          files += 1;
          const body = new SpooledBody({
            file: path.join(directory, String(files)),
            keep,
            grow,
            forget,
          });
          bodies.push(body);
          return body;
        },
        release() {
          if (isReleased) return;
          isReleased = true;
          give(reserved, key);
          for (const body of bodies) body.release();
        },
      };
    },
  };
}
