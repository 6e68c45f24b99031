import { administer } from './command-config.ts';
import { type Command, commonOptions, printResult, UsageError } from './command.ts';

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
      'idempotency-key': {
        type: 'string',
        value: 'KEY',
        help: 'a name for this credit, such as an invoice: given again, nothing is booked',
      },
      ...commonOptions,
    },
    positionals: [holder, 'AMOUNT'],
    async run(input, io) {
      const [name = '', text = ''] = input.positionals;
      const amount = await readAmount(text);
      const reason = input.text('reason')?.trim() ?? '';
      if (reason === '') throw new UsageError('--reason: expected a text');
      const idempotencyKey = input.text('idempotency-key');
      if (idempotencyKey?.trim() === '') throw new UsageError('--idempotency-key: expected a text');
      const credit = await administer(input, io, async (administration, actor) => {
        const { creditBalance } = await import('#administration/index.ts');
        return creditBalance(administration, actor, {
          kind,
          holder: name,
          amount,
          reason,
          idempotencyKey,
        });
      });
      const { formatUsd } = await import('#database/index.ts');
      const { transaction, isRepeated } = credit;
      const balance = formatUsd(credit.balance);
      const shown = { transaction, [kind]: name, amount: formatUsd(amount), balance };
      return isRepeated
        ? printResult(
            input,
            io,
            { ...shown, repeated: true },
            `booked before as ${transaction}; ${kind} '${name}' has a balance of ${balance} USD\n`,
          )
        : printResult(input, io, shown, `${kind} '${name}' now has a balance of ${balance} USD\n`);
    },
  };
}

/** Reads an amount in nano-USD, by the rules of the file. */
async function readAmount(text: string): Promise<bigint> {
  const { parseUsd } = await import('#database/index.ts');
  try {
    const amount = parseUsd(text);
    if (amount !== 0n) return amount;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new UsageError(
    `AMOUNT: expected an amount in USD other than 0, up to 1000000000 and with at most nine decimals, got "${text}"`,
  );
}
