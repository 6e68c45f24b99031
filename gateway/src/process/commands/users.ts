import { kinds } from '#config/index.ts';
import { administer, readDatabase } from './command-config.ts';
import { type Command, type CommandIo, commonOptions, printResult } from './command.ts';
import { optionsOf, readOptions } from './member-options.ts';
import { tableOf } from './text-table.ts';

export const userCreate: Command = {
  name: 'user create',
  description: 'Create keys for the user with: sluice key create --user EMAIL --name NAME',
  options: { ...optionsOf(kinds.user), ...commonOptions },
  positionals: ['EMAIL'],
  async run(input, io) {
    const settings = readOptions(kinds.user, input, { email: 'EMAIL' });
    const { id, email, name, role, balance, quota, groups } = await administer(
      input,
      io,
      async (administration, actor) => {
        const { createUser } = await import('#administration/index.ts');
        return createUser(administration, actor, settings);
      },
      { isFirst: true },
    );
    const user = { id, email, name, role, balance, quota, groups };
    const text = `user '${email}' created with a balance of ${balance} USD\n`;
    return printResult(input, io, user, text);
  },
};

export const userList: Command = {
  name: 'user list',
  description: '',
  options: commonOptions,
  positionals: [],
  async run(input, io) {
    const users = await readDatabase(input, io, async ({ database }) => {
      const { listUsers } = await import('#identity/index.ts');
      return listUsers(database.kysely);
    });
    const rows = users.map(({ id, email, name, role, quota, groups, owner, enabled }) => ({
      id,
      email,
      name,
      role,
      quota,
      groups,
      owner,
      enabled,
    }));
    const table = tableOf(rows, {
      EMAIL: ({ email }) => email,
      NAME: ({ name }) => name ?? '',
      ROLE: ({ role }) => role,
      OWNER: ({ owner }) => owner,
      STATE: ({ enabled }) => (enabled ? 'enabled' : 'disabled'),
    });
    return printResult(input, io, rows, table);
  },
};

export const userDisable: Command = {
  name: 'user disable',
  description:
    'Usage and books stay. Users of the file are disabled there: remove the entry, and apply the file.',
  options: commonOptions,
  positionals: ['EMAIL'],
  async run(input, io) {
    const [email = ''] = input.positionals;
    const changed = await administer(input, io, async (administration, actor) => {
      const { disableUser } = await import('#administration/index.ts');
      return disableUser(administration, actor, email);
    });
    const text = `user '${email}' ${changed ? 'is' : 'was already'} disabled\n`;
    return printResult(input, io, { email, disabled: true }, text);
  },
};

/** Bytes of a new password: far more than anybody can guess. */
const length = 12;
/** Characters of one that somebody chose. */
const [shortest, longest] = [12, 1_024] as const;

export const userPassword: Command = {
  name: 'user password',
  description:
    'For signing in to the console. The old password ends, and with it all sessions. Without --stdin a random one is made\n' +
    'and printed. No option takes a password: whoever lists the processes of this machine would see it.',
  options: {
    stdin: {
      type: 'boolean',
      help: 'read the new password from the first line of the standard input',
    },
    ...commonOptions,
  },
  positionals: ['EMAIL'],
  async run(input, io) {
    const [given = ''] = input.positionals;
    const email = given.trim().toLowerCase();
    const isChosen = input.flag('stdin');
    const password = await administer(input, io, async (administration, actor) => {
      const { replacePassword } = await import('#administration/index.ts');
      const { randomBytes } = await import('node:crypto');
      const { hashPassword } = await import('#database/index.ts');
      const chosen = isChosen ? await readPassword(io) : randomBytes(length).toString('base64url');
      const passwordHash = await hashPassword(chosen);
      await replacePassword(administration, actor, { email, passwordHash });
      return chosen;
    });
    return isChosen
      ? printResult(input, io, { email }, `${email} has the new password\n`)
      : printResult(input, io, { email, password }, `${email} ${password}\n`);
  },
};

/** @throws Error for one that nobody may have */
async function readPassword(io: CommandIo): Promise<string> {
  const password = await (io.readSecret ?? readSecret)('New password: ');
  if (password.length >= shortest && password.length <= longest) return password;
  throw new Error(`the password: expected ${shortest} to ${longest} characters`);
}

/** The first line of the standard input. A terminal is asked for it, and does not show what is typed. */
async function readSecret(question: string): Promise<string> {
  const { createInterface } = await import('node:readline');
  const { Writable } = await import('node:stream');
  const terminal = process.stdin.isTTY;
  if (terminal) process.stderr.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal });
  try {
    for await (const line of lines) return line;
    return '';
  } finally {
    lines.close();
    if (terminal) process.stderr.write('\n');
  }
}

export const userSignOut: Command = {
  name: 'user sign-out',
  description: 'Ends all sessions of the console, on every node. Keys keep working.',
  options: commonOptions,
  positionals: ['EMAIL'],
  async run(input, io) {
    const [email = ''] = input.positionals;
    const ended = await administer(input, io, async (administration, actor) => {
      const { signOutUser } = await import('#administration/index.ts');
      return signOutUser(administration, actor, email);
    });
    const text = `'${email}' is signed out; ended: ${ended} ${ended === 1 ? 'session' : 'sessions'}\n`;
    return printResult(input, io, { email, ended }, text);
  },
};
