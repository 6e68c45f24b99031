import type { Command, CommandIo } from './command.ts';

/** A command that parses its arguments itself. */
export type RawCommand = (args: string[], io: CommandIo) => Promise<number>;

export interface TableEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Command | RawCommand>;
}

/** Every command, in the order of the help. */
export const commandTable: readonly TableEntry[] = [
  {
    name: 'start',
    summary: 'Run the gateway',
    load: async () => (await import('./start.ts')).start,
  },
  {
    name: 'check',
    summary: 'Check a configuration file without changing anything',
    load: async () => (await import('./check.ts')).check,
  },
  {
    name: 'plan',
    summary: 'Show what applying the file would change',
    load: async () => (await import('./plan.ts')).plan,
  },
  {
    name: 'apply',
    summary: 'Apply a configuration file to the database',
    load: async () => (await import('./apply.ts')).apply,
  },
  {
    name: 'export',
    summary: 'Write the current state as a configuration file',
    load: async () => (await import('./export.ts')).exportCommand,
  },
  {
    name: 'reload',
    summary: 'Make the running gateway reload its file',
    load: async () => (await import('./reload.ts')).reload,
  },
  {
    name: 'health',
    summary: 'Ask the running gateway whether it can serve',
    load: async () => (await import('./health.ts')).health,
  },
  {
    name: 'migrate',
    summary: 'Migrate the database to this version',
    load: async () => (await import('./migrate.ts')).migrateCommand,
  },
  {
    name: 'key create',
    summary: 'Create a key and print its secret once',
    load: async () => (await import('./keys.ts')).keyCreate,
  },
  {
    name: 'key list',
    summary: 'List the keys',
    load: async () => (await import('./keys.ts')).keyList,
  },
  {
    name: 'key rotate',
    summary: 'Replace the secret of a key and print the new one once',
    load: async () => (await import('./keys.ts')).keyRotate,
  },
  {
    name: 'key revoke',
    summary: 'Revoke a key permanently',
    load: async () => (await import('./keys.ts')).keyRevoke,
  },
  {
    name: 'admin-key create',
    summary: 'Create a key with which a program administers the gateway, and show it once',
    load: async () => (await import('./admin-keys.ts')).adminKeyCreate,
  },
  {
    name: 'admin-key list',
    summary: 'List the keys of programs that administer the gateway',
    load: async () => (await import('./admin-keys.ts')).adminKeyList,
  },
  {
    name: 'admin-key revoke',
    summary: 'Revoke such a key permanently',
    load: async () => (await import('./admin-keys.ts')).adminKeyRevoke,
  },
  {
    name: 'user create',
    summary: 'Create a user',
    load: async () => (await import('./users.ts')).userCreate,
  },
  {
    name: 'user password',
    summary: 'Give a user a new password for the console',
    load: async () => (await import('./users.ts')).userPassword,
  },
  {
    name: 'user list',
    summary: 'List the users',
    load: async () => (await import('./users.ts')).userList,
  },
  {
    name: 'user show',
    summary: 'Show a user: what is left, teams, keys, sessions',
    load: async () => (await import('./details.ts')).userShow,
  },
  {
    name: 'user sign-out',
    summary: 'End all sessions of a user',
    load: async () => (await import('./users.ts')).userSignOut,
  },
  {
    name: 'user disable',
    summary: 'Disable a user: sessions end, and keys get no more responses',
    load: async () => (await import('./users.ts')).userDisable,
  },
  {
    name: 'user erase',
    summary: "Replace a person's name and address everywhere, for good",
    load: async () => (await import('./erase.ts')).userErase,
  },
  {
    name: 'team list',
    summary: 'List the teams',
    load: async () => (await import('./teams.ts')).teamList,
  },
  {
    name: 'team show',
    summary: 'Show a team: its budgets, and what its members used of them',
    load: async () => (await import('./details.ts')).teamShow,
  },
  {
    name: 'channel list',
    summary: 'List the channels with what became of their attempts',
    load: async () => (await import('./channels.ts')).channelList,
  },
  {
    name: 'channel test',
    summary: 'Send one small request to the upstream of a channel',
    load: async () => (await import('./channels.ts')).channelTest,
  },
  {
    name: 'user credit',
    summary: "Credit or debit a user's balance",
    load: async () => (await import('./credit.ts')).userCredit,
  },
  {
    name: 'team credit',
    summary: "Credit or debit a team's balance",
    load: async () => (await import('./credit.ts')).teamCredit,
  },
  {
    name: 'usage',
    summary: 'List requests with their tokens and cost',
    load: async () => (await import('./usage.ts')).usage,
  },
  {
    name: 'usage show',
    summary: 'Show one request: its receipt line by line, and its attempts',
    load: async () => (await import('./usage-show.ts')).usageShow,
  },
  {
    name: 'tasks',
    summary: 'List video tasks',
    load: async () => (await import('./tasks.ts')).tasksCommand,
  },
  {
    name: 'audit',
    summary: 'Show who changed what',
    load: async () => (await import('./audit.ts')).auditCommand,
  },
  {
    name: 'import litellm',
    summary: 'Convert a LiteLLM configuration',
    load: async () => (await import('#importers/import-gateway.ts')).importLitellm,
  },
  {
    name: 'import new-api',
    summary: 'Convert the channels of new-api or one-api',
    load: async () => (await import('#importers/import-gateway.ts')).importNewApi,
  },
  {
    name: 'import prices',
    summary: 'Convert a public price list into model entries',
    load: async () => (await import('#importers/import-prices.ts')).importPrices,
  },
  {
    name: 'reconcile',
    summary: 'Recompute every receipt and balance and show differences',
    load: async () => (await import('./reconcile.ts')).reconcileCommand,
  },
  {
    name: 'simulate',
    summary: 'Run only the simulated upstream',
    load: async () => (await import('./simulate.ts')).simulate,
  },
];
