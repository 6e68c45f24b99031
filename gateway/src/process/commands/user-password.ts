import { loadCommandConfig } from './command-config.ts';
import { type Command, commonOptions, exitCode, printJson } from './command.ts';

/** Bytes of a new password: far more than anybody can guess. */
const length = 12;

export const userPassword: Command = {
  name: 'user password',
  description: 'For signing in to the console. The old password ends, and with it all sessions.',
  options: commonOptions,
  positionals: ['EMAIL'],
  async run(input, io) {
    const config = await loadCommandConfig(input, io);
    const { randomBytes } = await import('node:crypto');
    const { commandActor, withPresentAdministration } = await import('./workspace.ts');
    const { replacePassword } = await import('#administration/index.ts');
    const { hashPassword } = await import('#database/index.ts');
    const [given = ''] = input.positionals;
    const email = given.trim().toLowerCase();
    const password = randomBytes(length).toString('base64url');
    const passwordHash = await hashPassword(password);
    await withPresentAdministration(config, (administration) =>
      replacePassword(administration, commandActor(), { email, passwordHash }),
    );
    if (input.flag('json')) printJson(io, { email, password });
    else io.stdout(`${email} ${password}\n`);
    return exitCode.done;
  },
};
