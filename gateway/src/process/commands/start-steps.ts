import { resolve } from 'node:path';
import { memoryShortage } from '#bodies/index.ts';
import type { Config } from '#config/index.ts';
import { type Logger, type UncaughtErrors, watchUncaughtErrors } from '#observability/index.ts';
import { type CommandInput, type CommandIo, exitCode } from './command.ts';

/* What a single process and a supervisor both do when they start. */

/** Where a first start writes its secrets: `--secrets-file`, then `SLUICE_SECRETS_FILE`; undefined: it prints them. */
export function secretsFileOf(input: CommandInput, io: CommandIo): string | undefined {
  const environment = io.environment ?? process.env;
  const path = input.text('secrets-file') ?? environment['SLUICE_SECRETS_FILE'];
  if (path === undefined || path === '') return undefined;
  return resolve(io.workingDirectory ?? '.', path);
}

/** Logs the shortage at a start. */
export function logMemoryShortage({ server }: Config, log: Pick<Logger, 'warn'>): void {
  const detail = memoryShortage(server.workers);
  if (detail !== null) log.warn('memory is low', { component: 'memory', detail });
}

/** After the drain time-out, a damaged process gets this long to shut down in order. */
const lastMs = 10_000;

export interface Damage {
  readonly uncaught: UncaughtErrors;
  /** Resolves at the first uncaught exception: the process should shut down in order and be replaced. */
  readonly happened: Promise<'uncaught exception'>;
}

/** From here on an uncaught error does not end this process at once. @param drainTimeout milliseconds */
export function watchDamage(log: Pick<Logger, 'error'>, drainTimeout: number): Damage {
  const { promise: happened, resolve: onDamaged } = Promise.withResolvers<'uncaught exception'>();
  const giveUp = (): never => process.exit(exitCode.failed);
  const uncaught = watchUncaughtErrors({
    log,
    onDamage() {
      setTimeout(giveUp, drainTimeout + lastMs).unref();
      onDamaged('uncaught exception');
    },
    onHopeless: giveUp,
  });
  return { uncaught, happened };
}
