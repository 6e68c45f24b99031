import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The id of the node that keeps its journal in this folder: random and stored there. A restarted node keeps its id, and
 * so does a folder that moves to another machine.
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

/** Null if there is no id, or a crash truncated it: then the folder gets a new one. */
function read(file: string): string | null {
  try {
    return /^(node_[0-9a-f]{24})\n$/.exec(readFileSync(file, 'utf8'))?.[1] ?? null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
