import { resolve } from 'node:path';
import type { CommandInput, CommandIo } from './command.ts';

/** Where a first start writes its secrets: `--secrets-file`, then `SLUICE_SECRETS_FILE`; undefined: it prints them. */
export function secretsFileOf(input: CommandInput, io: CommandIo): string | undefined {
  const environment = io.environment ?? process.env;
  const path = input.text('secrets-file') ?? environment['SLUICE_SECRETS_FILE'];
  if (path === undefined || path === '') return undefined;
  return resolve(io.workingDirectory ?? '.', path);
}
