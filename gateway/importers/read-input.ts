import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { CommandIo } from '#commands/command.ts';

const words: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'a folder',
  EACCES: 'a file that this user cannot read',
};

/**
 * Reads the file that the command line names.
 * @throws Error with a message for the user.
 */
export async function readInput(io: CommandIo, file: string): Promise<string> {
  try {
    return await readFile(resolve(io.workingDirectory ?? '.', file), 'utf8');
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    throw new Error(`${file}: expected a readable file, got ${words[code] ?? message}`, { cause });
  }
}
