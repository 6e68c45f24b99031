import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/*
 * The lives of a node: its processes, as far as they leased money and their leases may still be out. The holder of the
 * lock of the folder knows that they have ended, if it is the same folder. Each line names the inode of this file, since
 * a copy of the folder proves nothing: the original may be running. A clone of the whole disk has the same inode, so the
 * line also names the run of the machine and the device.
 */

const fileOf = (dataDir: string): string => join(dataDir, 'lives');

/** What a folder tells of its lives. */
export interface RememberedLives {
  /** Their processes have ended. */
  readonly ended: readonly string[];
  /** The folder may be a clone, or the machine has started again: they may be under way elsewhere. */
  readonly doubtful: readonly string[];
}

/** Names a new life and remembers it before it is used. */
export function addLife(dataDir: string): string {
  const life = `life_${randomBytes(12).toString('hex')}`;
  const file = fileOf(dataDir);
  const open = openSync(file, 'a', 0o600);
  try {
    const { inode, place } = whereabouts(file);
    appendFileSync(open, `${life} ${inode} ${place}\n`);
    fsyncSync(open);
  } finally {
    closeSync(open);
  }
  return life;
}

/** The lives that this folder remembers. */
export function livesOf(dataDir: string): RememberedLives {
  const file = fileOf(dataDir);
  const lines = linesOf(file);
  if (lines.length === 0) return { ended: [], doubtful: [] };
  const { place } = whereabouts(file);
  const isHere = (line: Line): boolean => place !== unknownPlace && line.place === place;
  return {
    ended: lines.filter(isHere).map(({ life }) => life),
    doubtful: lines.filter((line) => !isHere(line)).map(({ life }) => life),
  };
}

/** Forgets lives whose leases were given back. */
export function forgetLives(dataDir: string, lives: readonly string[]): void {
  if (lives.length === 0) return;
  const file = fileOf(dataDir);
  const otherLines = linesOf(file).filter(({ life }) => !lives.includes(life));
  // A crash leaves the old file or the new one, never a part of it.
  const draft = `${file}.new`;
  const open = openSync(draft, 'w', 0o600);
  try {
    const { inode } = whereabouts(draft);
    writeFileSync(
      open,
      otherLines.map(({ life, place }) => `${life} ${inode} ${place}\n`).join(''),
    );
    fsyncSync(open);
  } finally {
    closeSync(open);
  }
  renameSync(draft, file);
  syncFolder(dirname(file));
}

interface Line {
  readonly life: string;
  readonly place: string;
}

/** The lines that were written into this very file. */
function linesOf(file: string): Line[] {
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const { inode } = whereabouts(file);
  return text.split('\n').flatMap((line) => {
    const [, life, of, place = unknownPlace] =
      /^(life_[0-9a-f]{24}) (\d+)(?: (\S+))?$/.exec(line) ?? [];
    return life !== undefined && of === inode ? [{ life, place }] : [];
  });
}

/** Of lines of earlier versions, and of a system that does not name its runs. */
const unknownPlace = '-';

interface Whereabouts {
  readonly inode: string;
  /** The run of the machine, and the device. */
  readonly place: string;
}

function whereabouts(file: string): Whereabouts {
  const { ino, dev } = statSync(file, { bigint: true });
  const run = runOfMachine();
  return { inode: String(ino), place: run === null ? unknownPlace : `${run}/${dev}` };
}

/** Linux names each run of a machine; a clone that starts has another one. */
function runOfMachine(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return null;
  }
}

function syncFolder(folder: string): void {
  const open = openSync(folder, 'r');
  try {
    fsyncSync(open);
  } finally {
    closeSync(open);
  }
}
