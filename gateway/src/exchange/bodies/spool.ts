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
  /** Null if there is no room: less than these bytes below the limit, or on the disk beside what the journal needs. */
  reserve(bytes: number): SpoolSpace | null;
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

  const take = (bytes: number): boolean => {
    if (used + bytes > limit) return false;
    used += bytes;
    return true;
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
    reserve(bytes) {
      if (!isOnDisk(bytes) || !take(bytes)) return null;
      const bodies: SpooledBody[] = [];
      /** Bytes of the reservation, and those in files. */
      let reserved = bytes;
      let written = 0;
      let isReleased = false;
      const grow = (more: number): boolean => {
        const missing = written + more - reserved;
        if (missing > 0) {
          if (isReleased || !take(missing)) return false;
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
          used -= reserved;
          for (const body of bodies) body.release();
        },
      };
    },
  };
}
