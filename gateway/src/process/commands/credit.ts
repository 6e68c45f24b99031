import type { OpenDatabase } from '#database/index.ts';
import { type Command, commonOptions, exitCode, printJson, UsageError } from './command.ts';

export const userCredit = createCredit('user', 'EMAIL');
export const teamCredit = createCredit('team', 'NAME');

function createCredit(kind: 'user' | 'team', holder: string): Command {
  return {
    name: `${kind} credit`,
    description:
      'AMOUNT is in USD; a negative amount is a correction. The ledger records who made the entry and why.',
    options: {
      reason: { type: 'string', value: 'TEXT', help: 'why', required: true },
      actor: { type: 'string', value: 'TEXT', help: 'who makes the entry; default: command line' },
      ...commonOptions,
    },
    positionals: [holder, 'AMOUNT'],
    async run(input, io) {
      const { loadCommandConfig, withWorkspace } = await import('./workspace.ts');
      const { createChange, formatUsd } = await import('#database/index.ts');
      const { balances, creditAccount } = await import('#ledger/index.ts');
      const [name = '', text = ''] = input.positionals;
      const amount = await readAmount(text);
      const reason = input.text('reason')?.trim() ?? '';
      if (reason === '') throw new UsageError('--reason: expected a text');
      const config = await loadCommandConfig(input, io);
      const { transaction, balance } = await withWorkspace(config, ({ database, secrets }) =>
        database.kysely.transaction().execute(async (trx) => {
          const account = `${kind}:${await idOf(trx, kind, name)}` as const;
          const change = createChange(trx, { owner: 'console', secrets, now: Date.now() });
          const transaction = await creditAccount(change, {
            account,
            amount,
            kind: amount > 0n ? 'top-up' : 'correction',
            actor: input.text('actor') ?? 'command line',
            reason,
          });
          const left = await balances(trx, [account]);
          return { transaction, balance: formatUsd(left.get(account) ?? 0n) };
        }),
      );
      if (input.flag('json')) {
        printJson(io, { transaction, [kind]: name, amount: formatUsd(amount), balance });
      } else {
        io.stdout(`${kind} '${name}' now has a balance of ${balance} USD\n`);
      }
      return exitCode.done;
    },
  };
}

/** Nano-USD, by the rules of the file for amounts. */
async function readAmount(text: string): Promise<bigint> {
  const { parseUsd } = await import('#database/index.ts');
  try {
    const amount = parseUsd(text);
    if (amount !== 0n) return amount;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new UsageError(`AMOUNT: expected an amount in USD other than 0, got "${text}"`);
}

async function idOf(
  db: OpenDatabase['kysely'],
  kind: 'user' | 'team',
  name: string,
): Promise<string> {
  const { findUserByEmail, listTeams } = await import('#identity/index.ts');
  const found =
    kind === 'user'
      ? await findUserByEmail(db, name)
      : (await listTeams(db)).find((team) => team.name === name);
  if (found === null || found === undefined) throw new Error(`${kind} '${name}' does not exist`);
  return found.id;
}
