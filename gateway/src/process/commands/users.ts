import { kinds } from '#config/index.ts';
import { loadCommandConfig } from './command-config.ts';
import { type Command, type CommandIo, commonOptions, exitCode, printJson } from './command.ts';
import { optionsOf, readOptions } from './member-options.ts';

export const userCreate: Command = {
  name: 'user create',
  description: 'Create keys for the user with: sluice key create --user EMAIL --name NAME',
  options: { ...optionsOf(kinds.user), ...commonOptions },
  positionals: ['EMAIL'],
  async run(input, io) {
    const settings = readOptions(kinds.user, input, { email: 'EMAIL' });
    const config = await loadCommandConfig(input, io);
    const { commandActor, withAdministration } = await import('./workspace.ts');
    const { createUser } = await import('#administration/index.ts');
    const { id, email, name, role, balance, quota, groups } = await withAdministration(
      config,
      (administration) => createUser(administration, commandActor(), settings),
    );
    if (input.flag('json')) printJson(io, { id, email, name, role, balance, quota, groups });
    else io.stdout(`user '${email}' created with a balance of ${balance} USD\n`);
    return exitCode.done;
  },
};

export const userList: Command = {
  name: 'user list',
  description: '',
  options: commonOptions,
  positionals: [],
  async run(input, io) {
    const config = await loadCommandConfig(input, io);
    const { withReadableWorkspace } = await import('./workspace.ts');
    const { listUsers } = await import('#identity/index.ts');
    const users = await withReadableWorkspace(config, ({ database }) => listUsers(database.kysely));
    if (input.flag('json')) {
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
      printJson(io, rows);
      return exitCode.done;
    }
    const { formatTable } = await import('./text-table.ts');
    const rows = users.map(({ email, name, role, owner, enabled }) => [
      email,
      name ?? '',
      role,
      owner,
      enabled ? 'enabled' : 'disabled',
    ]);
    io.stdout(formatTable(['EMAIL', 'NAME', 'ROLE', 'OWNER', 'STATE'], rows));
    return exitCode.done;
  },
};

export const userDisable: Command = {
  name: 'user disable',
  description:
    'Usage and books stay. Users of the file are disabled there: remove the entry, and apply the file.',
  options: commonOptions,
  positionals: ['EMAIL'],
  async run(input, io) {
    const config = await loadCommandConfig(input, io);
    const { commandActor, withPresentAdministration } = await import('./workspace.ts');
    const { disableUser } = await import('#administration/index.ts');
    const [email = ''] = input.positionals;
    const changed = await withPresentAdministration(config, (administration) =>
      disableUser(administration, commandActor(), email),
    );
    if (input.flag('json')) printJson(io, { email, disabled: true });
    else io.stdout(`user '${email}' ${changed ? 'is' : 'was already'} disabled\n`);
    return exitCode.done;
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
    const config = await loadCommandConfig(input, io);
    const { randomBytes } = await import('node:crypto');
    const { commandActor, withPresentAdministration } = await import('./workspace.ts');
    const { replacePassword } = await import('#administration/index.ts');
    const { hashPassword } = await import('#database/index.ts');
    const [given = ''] = input.positionals;
    const email = given.trim().toLowerCase();
    const isChosen = input.flag('stdin');
    const password = isChosen ? await readPassword(io) : randomBytes(length).toString('base64url');
    const passwordHash = await hashPassword(password);
    await withPresentAdministration(config, (administration) =>
      replacePassword(administration, commandActor(), { email, passwordHash }),
    );
    if (input.flag('json')) printJson(io, isChosen ? { email } : { email, password });
    else io.stdout(isChosen ? `${email} has the new password\n` : `${email} ${password}\n`);
    return exitCode.done;
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
    const config = await loadCommandConfig(input, io);
    const { commandActor, withPresentAdministration } = await import('./workspace.ts');
    const { signOutUser } = await import('#administration/index.ts');
    const [email = ''] = input.positionals;
    const ended = await withPresentAdministration(config, (administration) =>
      signOutUser(administration, commandActor(), email),
    );
    if (input.flag('json')) printJson(io, { email, ended });
    else {
      io.stdout(
        `'${email}' is signed out; ended: ${ended} ${ended === 1 ? 'session' : 'sessions'}\n`,
      );
    }
    return exitCode.done;
  },
};
