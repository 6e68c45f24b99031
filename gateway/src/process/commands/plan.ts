import type { Config } from '#config/index.ts';
import type { Plan } from '#declaration/index.ts';
import { loadCommandConfig } from './command-config.ts';
import {
  type Command,
  commonOptions,
  exitCode,
  printJson,
  takeOver,
  takeOverOption,
} from './command.ts';

export const plan: Command = {
  name: 'plan',
  description: 'Writes nothing. Secrets are shown as changed, never with their value.',
  options: { ...commonOptions, ...takeOverOption },
  positionals: [],
  async run(input, io) {
    const config = await loadCommandConfig(input, io);
    const { formatPlan, summarise } = await import('./plan-text.ts');
    const result = await planFor(config, input.flag(takeOver));
    const ok = result.conflicts.length === 0;
    if (input.flag('json')) {
      printJson(io, { ok, ...result });
    } else {
      io.stdout(`${formatPlan(result)}${summarise(result, 'ahead')}\n`);
      for (const conflict of result.conflicts) io.stderr(`${config.file}: ${conflict}\n`);
    }
    return ok ? exitCode.done : exitCode.failed;
  },
};

async function planFor(config: Config, takesOver: boolean): Promise<Plan> {
  const { declared, listsDigest, storage } = config;
  if (declared === null) throw new Error('there is no configuration file to compare with');
  const { earlierFile, laterFile, planDeclaration, readState } =
    await import('#declaration/index.ts');
  const { findNodeId } = await import('#nodes/index.ts');
  const { isAbsent, withReadableWorkspace } = await import('./workspace.ts');
  // A first look must not create a database.
  if (isAbsent(config)) {
    return planDeclaration(declared, emptyState(), { hashKey: (secret) => secret });
  }
  return withReadableWorkspace(config, async ({ database, secrets }) => {
    const state = await readState(database.kysely, secrets);
    const hashKey = (secret: string) => secrets.hashKey(secret);
    const plan = planDeclaration(declared, state, { hashKey, takesOver });
    if (takesOver) return plan;
    const fingerprint = secrets.digestState(listsDigest ?? '');
    const node = findNodeId(storage.dataDir) ?? '';
    const later = await laterFile(database.kysely, { fingerprint, node });
    if (later === null) return plan;
    return { ...plan, conflicts: [earlierFile(later), ...plan.conflicts] };
  });
}

function emptyState() {
  return {
    groups: [],
    channels: [],
    models: [],
    aliases: [],
    users: [],
    teams: [],
    keys: [],
    keyHashes: new Map<string, string>(),
  };
}
