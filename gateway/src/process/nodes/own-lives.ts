import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/*
 * The lives of a node: its processes, as far as they leased money and their leases may still be out. Whoever holds the
 * lock of the folder knows that they have ended. Each line names the inode of this file, because a copy of the folder
 * proves nothing: the original may be running.
 */

const fileOf = (dataDir: string): string => join(dataDir, 'lives');

/** Names a new life and remembers it before it is used. */
export function addLife(dataDir: string): string {
  const life = `life_${randomBytes(12).toString('hex')}`;
  const file = fileOf(dataDir);
  const open = openSync(file, 'a', 0o600);
  try {
    appendFileSync(open, `${life} ${inodeOf(file)}\n`);
    fsyncSync(open);
  } finally {
    closeSync(open);
  }
  return life;
}

/** The lives that this folder remembers. */
export function livesOf(dataDir: string): string[] {
  const file = fileOf(dataDir);
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const inode = inodeOf(file);
  return text.split('\n').flatMap((line) => {
    const [, life, of] = /^(life_[0-9a-f]{24}) (\d+)$/.exec(line) ?? [];
    return life !== undefined && of === inode ? [life] : [];
  });
}

/** Forgets lives whose leases were given back. */
export function forgetLives(dataDir: string, lives: readonly string[]): void {
  if (lives.length === 0) return;
  const file = fileOf(dataDir);
  const inode = inodeOf(file);
  const left = livesOf(dataDir).filter((life) => !lives.includes(life));
  writeFileSync(file, left.map((life) => `${life} ${inode}\n`).join(''));
}

function inodeOf(file: string): string {
  return String(statSync(file, { bigint: true }).ino);
}
