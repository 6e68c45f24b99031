import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The name of the node that keeps its journal in this folder: random, made once and kept there, so that a node that
 * starts again is the same one, and a folder that moves to another machine keeps its name.
 */
export function readNodeId(dataDir: string): string {
  const file = join(dataDir, 'node.id');
  const existing = read(file);
  if (existing !== null) return existing;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const id = `node_${randomBytes(12).toString('hex')}`;
  writeFileSync(file, `${id}\n`, { mode: 0o600 });
  return id;
}

/** Null when there is none, or when a crash cut it short: then the folder gets a new name. */
function read(file: string): string | null {
  try {
    return /^(node_[0-9a-f]{24})\n$/.exec(readFileSync(file, 'utf8'))?.[1] ?? null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
