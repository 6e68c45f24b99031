import { administer, loadCommandConfig } from './command-config.ts';
import {
  type Command,
  type CommandIo,
  commonOptions,
  exitCode,
  printResult,
  UsageError,
} from './command.ts';

export const userErase: Command = {
  name: 'user erase',
  description:
    'Users, teams, keys, the books and the audit log name the person by an id afterwards. Amounts, sums and requests stay,\n' +
    'sessions end, and keys are revoked. It cannot be undone.',
  options: {
    yes: { type: 'boolean', help: 'do not ask' },
    actor: { type: 'string', value: 'TEXT', help: 'who erases; default: command line' },
    ...commonOptions,
  },
  positionals: ['EMAIL'],
  async run(input, io) {
    const [given = ''] = input.positionals;
    const email = given.trim().toLowerCase();
    const config = await loadCommandConfig(input, io);
    // The next start would create the person again.
    if (JSON.stringify(config.declared).toLowerCase().includes(JSON.stringify(email))) {
      throw new Error(
        `${config.file}: it still has '${email}': remove it there first, and apply the file`,
      );
    }
    if (!input.flag('yes') && !(await isConfirmed(email, io))) {
      io.stderr('sluice: nothing was erased\n');
      return exitCode.failed;
    }
    const {
      id,
      email: newEmail,
      keys,
      teams,
      ledgerEntries,
      auditLines,
    } = await administer(input, io, async (administration, actor) => {
      const { eraseUser } = await import('#administration/index.ts');
      return eraseUser(administration, actor, email);
    });
    const counts = { keys_revoked: keys, teams_left: teams };
    const lines = { ledger_entries: ledgerEntries, audit_lines: auditLines };
    const text = `erased: the person is ${newEmail} now; revoked keys: ${keys}, teams left: ${teams}, changed entries of the ledger: ${ledgerEntries}, of the audit log: ${auditLines}\n`;
    return printResult(input, io, { id, email: newEmail, ...counts, ...lines }, text);
  },
};

/** @throws UsageError if nobody can be asked */
async function isConfirmed(email: string, io: CommandIo): Promise<boolean> {
  const ask = io.ask === undefined ? askTerminal() : io.ask;
  if (ask === null) throw new UsageError('--yes is required where nobody can be asked');
  const answer = await ask(`Erase ${email} for good? Type the address again: `);
  return answer.trim().toLowerCase() === email;
}

/** Null without a terminal. */
function askTerminal(): NonNullable<CommandIo['ask']> | null {
  if (!process.stdin.isTTY) return null;
  return async (question) => {
    const { createInterface } = await import('node:readline/promises');
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return await terminal.question(question);
    } finally {
      terminal.close();
    }
  };
}
