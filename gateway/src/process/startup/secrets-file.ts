import { closeSync, fsyncSync, lstatSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { FirstStart } from './first-start.ts';

/** The lines that a first start shows, each with its line end. */
export function formatSecrets({ admin, key }: Pick<FirstStart, 'admin' | 'key'>): string {
  const shownPath =
    admin === null ? '' : `admin: ${admin.email} ${admin.password ?? ''}`.trimEnd() + '\n';
  return key === null ? shownPath : `${shownPath}key: ${key}\n`;
}

/**
 * Checks the path where a first start writes its secrets instead of printing them. Nothing may exist there: another
 * user's file or link would let that user read the secrets.
 * @throws Error with a message for the operator.
 */
export function assertSecretsFile(file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) {
    throw new Error(
      `--secrets-file: ${file} exists already; name a new file, or move that one away`,
    );
  }
  if (lstatSync(dirname(file), { throwIfNoEntry: false }) === undefined) {
    throw new Error(`--secrets-file: there is no folder ${dirname(file)}`);
  }
}

/**
 * Writes a new file that only this user can read.
 * @param replaces a file may exist that an earlier start wrote before it was killed
 * @throws Error with a message for the operator.
 */
export function writeSecretsFile(file: string, text: string, replaces: boolean): void {
  if (replaces && lstatSync(file, { throwIfNoEntry: false })?.isFile() === true) rmSync(file);
  let descriptor: number;
  try {
    // Exclusive: never through a link.
    descriptor = openSync(file, 'wx', 0o600);
  } catch (cause) {
    throw new Error(`--secrets-file: ${(cause as Error).message}`, { cause });
  }
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } catch (cause) {
    // The next start would take it for a foreign file.
    rmSync(file, { force: true });
    throw new Error(`--secrets-file: ${file} cannot be written: ${(cause as Error).message}`, {
      cause,
    });
  } finally {
    closeSync(descriptor);
  }
}
