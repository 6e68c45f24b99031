import { bundledAliases, bundledModels } from '#catalogue/index.ts';
import {
  type Config,
  describeSettings,
  type DeclaredKind,
  type NotCompared,
  readComparedFile,
} from '#config/index.ts';
import type { OpenDatabase, Secrets } from '#database/index.ts';
import {
  type CurrentState,
  exportState,
  type Plan,
  planDeclaration,
  readState,
  readStateFor,
  writeEntry,
} from '#declaration/index.ts';

/** What is declared in the database, as a configuration file without secrets. */
export async function exportConfiguration(
  db: OpenDatabase['kysely'],
  secrets: Secrets,
): Promise<string> {
  const names = new Set([...bundledModels.map(({ id }) => id), ...bundledAliases.keys()]);
  return exportState(await readState(db, secrets), names);
}

/** A setting that a file changes, at the next start with it. */
export interface ChangedSetting {
  readonly name: string;
  /** As it may be shown. */
  readonly before: unknown;
  readonly after: unknown;
}

export interface ComparedPlan extends Plan {
  readonly settings: readonly ChangedSetting[];
  readonly notCompared: readonly NotCompared[];
}

export interface ComparedText {
  readonly text: string;
  /** The name of the file in messages. */
  readonly file: string;
  /** The base of relative paths. */
  readonly workingDirectory: string;
  /** The settings in force. */
  readonly running: Config;
  /** As of `planDeclaration`. */
  readonly takesOver: boolean;
}

/**
 * What would change if a text were the configuration file. Nothing is filled in and no secret compared.
 * @throws ConfigError with every problem of the text
 */
export async function planText(
  db: OpenDatabase['kysely'],
  secrets: Secrets,
  { text, file, workingDirectory, running, takesOver }: ComparedText,
): Promise<ComparedPlan> {
  const compared = readComparedFile(text, {
    file,
    workingDirectory,
    bundledModels: bundledModels.map(({ id }) => id),
    bundledAliases: bundledAliases.keys(),
  });
  const keys = compared.keyNames.map((name) => ({ name, secret: null }));
  const state = await readStateFor({ keys }, db, secrets);
  const { config, notCompared } = compared.check({
    config: running,
    entry: (kind, name) => entryOf(kind, name, state),
  });
  const { declared } = config;
  if (declared === null) throw new Error('the text of a file declares something');
  return {
    ...planDeclaration(declared, state, {
      hashKey: (secret) => secrets.hashKey(secret),
      takesOver,
    }),
    settings: changes(running, config),
    notCompared,
  };
}

function entryOf(kind: DeclaredKind, name: string, state: CurrentState) {
  const { section, identity } = kind;
  const rows: readonly object[] = state[section];
  const wanted = identity === 'email' ? name.toLowerCase() : name;
  const row = rows.find((each) => (each as Readonly<Record<string, unknown>>)[identity] === wanted);
  return row === undefined ? null : writeEntry(kind, row as never);
}

/** By what may be shown, so that nobody finds a password by trying. */
function changes(running: Config, config: Config): ChangedSetting[] {
  const before = new Map(describeSettings(running).map(({ name, value }) => [name, value]));
  return describeSettings(config)
    .map(({ name, value }) => ({ name, before: before.get(name), after: value }))
    .filter((each) => JSON.stringify(each.before) !== JSON.stringify(each.after));
}
