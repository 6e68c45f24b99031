import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How a running gateway and the commands find each other: two small files in the data folder. */
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
  /** For people, one line each; empty when it went well. */
  readonly problems: readonly string[];
  /** Settings that the file changes and that need a restart, as the file spells them. An older gateway does not say. */
  readonly restart?: readonly string[];
}

/** Says that a gateway runs on this data folder, for `readRunning`. */
export function writePidFile(dataDir: string, running: Running): void {
  writeWhole(join(dataDir, pidFile), running);
}

/** Says that it does not any more. */
export function removePidFile(dataDir: string): void {
  rmSync(join(dataDir, pidFile), { force: true });
}

/** The gateway that runs on this data folder, or null. A file left behind by a crash counts as none. */
export function readRunning(dataDir: string): Running | null {
  const running = readWhole<Running>(join(dataDir, pidFile));
  if (running === null || !Number.isSafeInteger(running.pid) || running.pid < 2) return null;
  return isAlive(running.pid) ? running : null;
}

/** Written by the gateway after every reload, whoever asked for it. */
export function writeReloadOutcome(dataDir: string, outcome: ReloadOutcome): void {
  writeWhole(join(dataDir, reloadFile), outcome);
}

/** How the last reload went; null when there was none. */
export function readReloadOutcome(dataDir: string): ReloadOutcome | null {
  return readWhole<ReloadOutcome>(join(dataDir, reloadFile));
}

/** A number can belong to another program by now, which a signal would end. */
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
  writeFileSync(draft, `${JSON.stringify(value)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}

function readWhole<Value>(file: string): Value | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Value;
  } catch {
    return null;
  }
}
