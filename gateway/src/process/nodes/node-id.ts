import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const idFile = (dataDir: string): string => join(dataDir, 'node.id');

/**
 * The id of the node that keeps its journal in this folder: random and stored there. A restarted node keeps its id, and
 * so does a folder that moves to another machine.
 */
export function readNodeId(dataDir: string): string {
  const existing = findNodeId(dataDir);
  if (existing !== null) return existing;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const id = `node_${randomBytes(12).toString('hex')}`;
  writeFileSync(idFile(dataDir), `${id}\n`, { mode: 0o600 });
  return id;
}

/** The same, and null if there is none, or a crash truncated it: then the folder gets a new one. */
export function findNodeId(dataDir: string): string | null {
  try {
    return /^(node_[0-9a-f]{24})\n$/.exec(readFileSync(idFile(dataDir), 'utf8'))?.[1] ?? null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
