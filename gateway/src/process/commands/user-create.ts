import type { DeclaredUser } from '#config/index.ts';
import {
  type Command,
  type CommandInput,
  commonOptions,
  exitCode,
  printJson,
  UsageError,
} from './command.ts';
import { describeOptions } from './setting-problems.ts';

export const userCreate: Command = {
  name: 'user create',
  description: 'Create keys for the user with: sluice key create --user EMAIL --name NAME',
  options: {
    name: { type: 'string', value: 'NAME', help: 'the name to show' },
    role: { type: 'string', value: 'ROLE', help: 'member (default) or admin' },
    balance: { type: 'string', value: 'USD', help: 'opening balance; default: 0' },
    quota: { type: 'string', value: 'USD', help: 'how much the user may spend in total' },
    ...commonOptions,
  },
  positionals: ['EMAIL'],
  async run(input, io) {
    const { loadCommandConfig, withWorkspace } = await import('./workspace.ts');
    const { createChange } = await import('#database/index.ts');
    const { findUserByEmail, upsertUser } = await import('#identity/index.ts');
    const settings = await readSettings(input);
    const config = await loadCommandConfig(input, io);
    const user = await withWorkspace(config, ({ database, secrets }) =>
      database.kysely.transaction().execute(async (trx) => {
        if ((await findUserByEmail(trx, settings.email)) !== null) {
          throw new Error(`user '${settings.email}' already exists`);
        }
        const change = createChange(trx, { owner: 'console', secrets, now: Date.now() });
        await upsertUser(change, settings);
        return findUserByEmail(trx, settings.email);
      }),
    );
    if (user === null) throw new Error(`user '${settings.email}' could not be created`);
    const { id, email, name, role, balance, quota } = user;
    if (input.flag('json')) printJson(io, { id, email, name, role, balance, quota });
    else io.stdout(`user '${email}' created with a balance of ${balance} USD\n`);
    return exitCode.done;
  },
};

/** The options by the rules of the file; a mistake is told with the option's own name. */
async function readSettings(input: CommandInput): Promise<DeclaredUser> {
  const { ConfigError, parseUserSettings } = await import('#config/index.ts');
  try {
    return parseUserSettings({
      email: input.positionals[0],
      name: input.text('name'),
      role: input.text('role'),
      balance: input.text('balance'),
      quota: input.text('quota'),
    });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new UsageError(describeOptions(error.problems).replace('--email', 'EMAIL'));
  }
}
