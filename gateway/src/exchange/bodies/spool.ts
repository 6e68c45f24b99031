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
  readonly used: number;
  /** Bytes in memory. */
  readonly kept: number;
  /** Bodies for which there was no room, since the start. */
  readonly refused: number;
  /** Why no file can be written; null: they can, as far as is known. */
  problem(): Error | null;
  /**
   * Null if there is no room: less than these bytes below the limit, or on the disk beside what the journal needs. The
   * disk does not matter to a reservation of nothing.
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

export interface SpoolOptions extends Omit<SpoolDiskOptions, 'stored'> {
  /** Bytes of all files. */
  readonly limit: number;
  /** Bytes of all bodies that are kept in memory instead. */
  readonly memory: number;
}

/** @throws Error with a message for the operator if the folder cannot be created, or emptied. */
export function createSpool({ limit, memory, ...options }: SpoolOptions): Spool {
  let used = 0;
  let stored = 0;
  const disk = createSpoolDisk({ ...options, stored: () => stored });
  let kept = 0;
  let refused = 0;

  /** Bytes of the keys that send bodies. */
  const byKey = new Map<string, number>();
  const take = (bytes: number, keyId: string | null): boolean => {
    if (used + bytes > limit) return false;
    // What is reserved may not have been written yet.
    if (bytes > 0 && !disk.hasRoom(used + bytes)) return false;
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
    get refused() {
      return refused;
    },
    problem: disk.problem,
    reserve(bytes, keyId) {
      const key = keyId ?? null;
      if (isBeyondShare(bytes, key) || !take(bytes, key)) {
        refused += 1;
        return null;
      }
      const bodies: SpooledBody[] = [];
      /** Bytes of the reservation, and those in files. */
      let reserved = bytes;
      let written = 0;
      let isReleased = false;
      const grow = (more: number): boolean => {
        if (isReleased) return false;
        const missing = written + more - reserved;
        if (missing > 0) {
          if (!take(missing, key)) {
            refused += 1;
            return false;
          }
          reserved += missing;
        }
        written += more;
        stored += more;
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
          give(reserved, key);
          stored -= written;
          for (const body of bodies) body.release();
        },
      };
    },
  };
}
