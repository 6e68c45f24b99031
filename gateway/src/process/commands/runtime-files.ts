import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How the running gateway and the commands find each other: two small files in the data folder. */
const pidFile = 'sluice.pid';
const reloadFile = 'reload.json';

export interface Running {
  readonly pid: number;
  /** Unix milliseconds. */
  readonly startedAt: number;
}

export interface ReloadOutcome {
  /** Unix milliseconds. */
  readonly at: number;
  readonly ok: boolean;
  /** For people, one line each; empty on success. */
  readonly problems: readonly string[];
  /** Changed settings that need a restart, in the file's spelling. An older gateway omits it. */
  readonly restart?: readonly string[];
}

/** Records, for `readRunning`, that a gateway runs on this data folder. */
export function writePidFile(dataDir: string, running: Running): void {
  writeWhole(join(dataDir, pidFile), running);
}

/** Removes that record. */
export function removePidFile(dataDir: string): void {
  rmSync(join(dataDir, pidFile), { force: true });
}

/** The gateway that runs on this data folder; null if there is none. A file left by a crash does not count. */
export function readRunning(dataDir: string): Running | null {
  const running = readWhole<Running>(join(dataDir, pidFile));
  if (running === null || !Number.isSafeInteger(running.pid) || running.pid < 2) return null;
  return isAlive(running.pid) ? running : null;
}

/** Written by the gateway after every reload, from any source. */
export function writeReloadOutcome(dataDir: string, outcome: ReloadOutcome): void {
  writeWhole(join(dataDir, reloadFile), outcome);
}

/** The outcome of the last reload; null if there was none. */
export function readReloadOutcome(dataDir: string): ReloadOutcome | null {
  return readWhole<ReloadOutcome>(join(dataDir, reloadFile));
}

/** The pid may belong to another program by now, which a signal would end. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    return /node|sluice/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  } catch {
    return true;
  }
}

/** Readers see the old text or the new, never a part. */
function writeWhole(file: string, value: unknown): void {
  const draft = `${file}.${process.pid}`;
  try {
    writeFileSync(draft, `${JSON.stringify(value)}\n`, { mode: 0o600 });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function readWhole<Value>(file: string): Value | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Value;
  } catch {
    return null;
  }
}
