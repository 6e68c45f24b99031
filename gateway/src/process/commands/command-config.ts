import type { Actor, Administration } from '#administration/index.ts';
import type { Config } from '#config/index.ts';
import type { CommandInput, CommandIo } from './command.ts';
import type { Workspace } from './workspace.ts';

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

/**
 * Reads the database as it is, for commands that change nothing.
 * @throws ConfigError; Error if there is no database yet, or its tables do not match this version
 */
export async function readDatabase<Result>(
  input: CommandInput,
  io: CommandIo,
  read: (workspace: Workspace, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = await loadCommandConfig(input, io);
  const { withReadableWorkspace } = await import('./workspace.ts');
  return withReadableWorkspace(config, (workspace) => read(workspace, config));
}

/**
 * Runs use cases of the administration. On record they are of the command line, or of whom `--actor` names.
 * @param options `isFirst`: if there is no database yet, one is created. In the wrong folder any other change would only
 * leave a new database behind.
 * @throws ConfigError; Error if there is no database yet
 */
export async function administer<Result>(
  input: CommandInput,
  io: CommandIo,
  work: (administration: Administration, actor: Actor, config: Config) => Promise<Result>,
  { isFirst = false }: { readonly isFirst?: boolean } = {},
): Promise<Result> {
  const config = await loadCommandConfig(input, io);
  const { assertPresent, withAdministration } = await import('./workspace.ts');
  if (!isFirst) assertPresent(config);
  const actor: Actor = { kind: 'command', name: input.text('actor') ?? 'command line' };
  return withAdministration(config, (administration) => work(administration, actor, config));
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
