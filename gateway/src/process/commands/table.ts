import type { Command, CommandIo } from './command.ts';

/** A command that reads its arguments itself. */
export type RawCommand = (args: string[], io: CommandIo) => Promise<number>;

export interface TableEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Command | RawCommand>;
}

/** Every command there is, in the order of the help. */
export const commandTable: readonly TableEntry[] = [
  {
    name: 'start',
    summary: 'Run the gateway',
    load: async () => (await import('./start.ts')).start,
  },
  {
    name: 'check',
    summary: 'Check a configuration file without touching anything',
    load: async () => (await import('./check.ts')).check,
  },
  {
    name: 'plan',
    summary: 'Show what applying the file would change',
    load: async () => (await import('./plan.ts')).plan,
  },
  {
    name: 'apply',
    summary: 'Make the database what the file declares',
    load: async () => (await import('./apply.ts')).apply,
  },
  {
    name: 'export',
    summary: 'Write the current state as a configuration file',
    load: async () => (await import('./export.ts')).exportCommand,
  },
  {
    name: 'reload',
    summary: 'Let the running gateway read its file again',
    load: async () => (await import('./reload.ts')).reload,
  },
  {
    name: 'migrate',
    summary: 'Bring the database up to date',
    load: async () => (await import('./migrate.ts')).migrateCommand,
  },
  {
    name: 'key create',
    summary: 'Create a key and print its secret, this once',
    load: async () => (await import('./key-create.ts')).keyCreate,
  },
  {
    name: 'key list',
    summary: 'List the keys',
    load: async () => (await import('./key-list.ts')).keyList,
  },
  {
    name: 'key rotate',
    summary: 'Give a key a new secret and print it, this once',
    load: async () => (await import('./key-rotate.ts')).keyRotate,
  },
  {
    name: 'key revoke',
    summary: 'Make a key unusable for good',
    load: async () => (await import('./key-revoke.ts')).keyRevoke,
  },
  {
    name: 'user create',
    summary: 'Create a user',
    load: async () => (await import('./user-create.ts')).userCreate,
  },
  {
    name: 'user credit',
    summary: "Add to a user's balance, or take from it",
    load: async () => (await import('./credit.ts')).userCredit,
  },
  {
    name: 'team credit',
    summary: "Add to a team's balance, or take from it",
    load: async () => (await import('./credit.ts')).teamCredit,
  },
  {
    name: 'usage',
    summary: 'List requests with their tokens and cost',
    load: async () => (await import('./usage.ts')).usage,
  },
  {
    name: 'import litellm',
    summary: 'Turn a configuration of LiteLLM into one of Sluice',
    load: async () => (await import('./import-gateway.ts')).importLitellm,
  },
  {
    name: 'import new-api',
    summary: 'Turn the channels of new-api or one-api into a configuration',
    load: async () => (await import('./import-gateway.ts')).importNewApi,
  },
  {
    name: 'import prices',
    summary: 'Turn a public price list into models of the configuration',
    load: async () => (await import('./import-prices.ts')).importPrices,
  },
  {
    name: 'reconcile',
    summary: 'Work out every receipt and balance again and show differences',
    load: async () => (await import('./reconcile.ts')).reconcileCommand,
  },
  {
    name: 'simulate',
    summary: 'Run the simulated upstream alone',
    load: async () => (await import('./simulate.ts')).simulate,
  },
];
