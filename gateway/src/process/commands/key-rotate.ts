import { loadCommandConfig } from './command-config.ts';
import {
  type Command,
  type CommandInput,
  commonOptions,
  exitCode,
  printJson,
  UsageError,
} from './command.ts';

export const keyRotate: Command = {
  name: 'key rotate',
  description:
    'KEY is a name or an id. The settings, usage and spending of the key stay. The old secret keeps working during the\n' +
    'grace period; --grace 0s ends it within seconds. Only a hash of the new secret is stored, so it cannot be\n' +
    'shown again. Change a secret that is declared in the configuration file there.',
  options: {
    grace: {
      type: 'string',
      value: 'TIME',
      help: 'how long the old secret stays valid, such as 30m; default: 24h',
    },
    ...commonOptions,
  },
  positionals: ['KEY'],
  async run(input, io) {
    const grace = await readGrace(input);
    const config = await loadCommandConfig(input, io);
    const { commandActor, withPresentAdministration } = await import('./workspace.ts');
    const { rotateKey } = await import('#administration/index.ts');
    const { keyToJson } = await import('./key-json.ts');
    const [nameOrId = ''] = input.positionals;
    const { key, secret, previousUntil } = await withPresentAdministration(
      config,
      (administration) => rotateKey(administration, commandActor(), { key: nameOrId, grace }),
    );
    const until = previousUntil === null ? null : new Date(previousUntil).toISOString();
    const { id, name, ...rest } = keyToJson(key);
    if (input.flag('json')) {
      printJson(io, { id, name, key: secret, ...rest, previous_valid_until: until });
    } else {
      const old = until === null ? 'no longer valid' : `valid until ${until}`;
      io.stdout(
        `key '${name}' of ${key.user}, shown only once:\n${secret}\nthe old secret is ${old}\n`,
      );
    }
    return exitCode.done;
  },
};

/** Milliseconds. */
async function readGrace(input: CommandInput): Promise<number> {
  const { graceRule, parseGrace, usualGrace } = await import('#administration/index.ts');
  const text = input.text('grace') ?? usualGrace;
  const grace = parseGrace(text);
  if (grace === null) {
    throw new UsageError(`--grace: expected ${graceRule}, got "${text}"`);
  }
  return grace;
}
