import type { Config } from '#config/index.ts';
import type { CommandInput, CommandIo } from './command.ts';

/**
 * Loads the configuration for a command. Commands do it before they import what works on it, so that the problems of a
 * file are shown at once.
 * @throws ConfigError
 */
export async function loadCommandConfig(input: CommandInput, io: CommandIo): Promise<Config> {
  const { loadConfig } = await import('#config/index.ts');
  const { bundledAliases, bundledModels } = await import('#catalogue/bundled.ts');
  return loadConfig({
    ...io,
    path: input.text('config'),
    bundledModels: bundledModels.map(({ id }) => id),
    bundledAliases: bundledAliases.keys(),
  });
}

/** Every name in the bundled catalogue: channels may serve them and keys may list them without declaring them. */
export async function bundledModelNames(): Promise<ReadonlySet<string>> {
  const { bundledAliases, bundledModels } = await import('#catalogue/bundled.ts');
  return new Set([...bundledModels.map(({ id }) => id), ...bundledAliases.keys()]);
}

/** The capabilities of the bundled models, by id. */
export async function bundledCapabilities(): Promise<ReadonlyMap<string, readonly string[]>> {
  const { bundledModels } = await import('#catalogue/bundled.ts');
  return new Map(bundledModels.map(({ id, capabilities }) => [id, capabilities]));
}
