import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Config } from '#config/index.ts';
import type { Logger } from '#observability/index.ts';

const consoleFolder = new URL('../../../../console/', import.meta.url);

/**
 * Builds the console in a separate process if `npm install --ignore-scripts` has not, while the gateway serves
 * models already. The pages appear once it is done; a gateway that stops first does not wait for it.
 * @param folder with `build.ts`, which writes `dist/stamp` last; for tests
 * @returns whether a build has begun
 */
export function buildMissingConsole(
  { console: settings }: Pick<Config, 'console'>,
  logger: Pick<Logger, 'info' | 'warn'>,
  folder = consoleFolder,
): boolean {
  const stamp = new URL('dist/stamp', folder);
  if (!settings.enabled || existsSync(stamp)) return false;
  const child = spawn(process.execPath, [fileURLToPath(new URL('build.ts', folder))], {
    stdio: 'ignore',
  });
  child.unref();
  const reportMissing = (detail: string) =>
    logger.warn('the console could not be built: run npm run console:build to see why', {
      component: 'console',
      detail,
    });
  child.once('error', ({ message }) => reportMissing(message));
  child.once('exit', (code, signal) => {
    if (existsSync(stamp)) logger.info('the console has been built', { component: 'console' });
    else reportMissing(`its build ended with ${signal ?? `code ${code ?? 'unknown'}`}`);
  });
  // Requests for models come first.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  return true;
}
