import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

const fileName = 'first-start.json';

/** Secrets of a first start that have not been shown yet, by id; null: none of that kind. */
export interface Unshown {
  readonly admin: string | null;
  readonly key: string | null;
}

const nothing: Unshown = Object.freeze({ admin: null, key: null });

/**
 * No secret is stored in clear text, so a secret that a killed start did not show is lost. This file in the data folder
 * says whose secret the next start must replace. It contains ids, because another node may have created others
 * meanwhile.
 */
export function readUnshown(dataDir: string): Unshown {
  let text: string;
  try {
    text = readFileSync(join(dataDir, fileName), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return nothing;
    throw error;
  }
  const { admin, key } = JSON.parse(text) as Partial<Unshown>;
  return { admin: admin ?? null, key: key ?? null };
}

export function hasUnshown(dataDir: string): boolean {
  const { admin, key } = readUnshown(dataDir);
  return admin !== null || key !== null;
}

/** Durable when it returns: written before the rows it names are committed. */
export function writeUnshown(dataDir: string, unshown: Unshown): void {
  const file = join(dataDir, fileName);
  const draft = `${file}.${process.pid}`;
  const descriptor = openSync(draft, 'w', 0o600);
  try {
    writeSync(descriptor, JSON.stringify(unshown));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, file);
}

/** Call it when everything has been shown. */
export function forgetUnshown(dataDir: string): void {
  rmSync(join(dataDir, fileName), { force: true });
}
