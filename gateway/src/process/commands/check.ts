import type { Config } from '#config/index.ts';
import { bundledCapabilities, loadCommandConfig } from './command-config.ts';
import { type Command, commonOptions, exitCode, printJson } from './command.ts';

export const check: Command = {
  name: 'check',
  description: 'Prints every problem as file:line: path: expected X, got Y.',
  options: commonOptions,
  positionals: [],
  async run(input, io) {
    const { ConfigError } = await import('#config/index.ts');
    const { passwordsOff, settingsInVain, unpricedImages, unpricedSearches, weakKeys } =
      await import('./file-warnings.ts');
    const { patternWarnings, servedPatterns } = await import('./served-patterns.ts');
    const { memoryShortage } = await import('#bodies/index.ts');
    try {
      const config = await loadCommandConfig(input, io);
      const { file, declared, environmentKeys } = config;
      const shortage = memoryShortage(config.server.workers);
      const patterns = servedPatterns(config);
      const bundledModels = await bundledCapabilities();
      const warnings = [
        ...(shortage === null ? [] : [shortage]),
        ...unpricedSearches(declared?.models ?? [], bundledModels),
        ...unpricedImages(declared?.models ?? [], declared?.channels ?? [], bundledModels),
        ...((declared?.channels.length ?? 0) > 0
          ? []
          : [
              `no channels are declared, so the gateway serves only ${servedInstead(environmentKeys)}`,
            ]),
        ...(declared === null ? [] : settingsInVain(declared)),
        ...weakKeys(config).map(
          (name) =>
            `the secret of key '${name}' looks guessable (less than 128 random bits); generate one with: openssl rand -hex 24`,
        ),
        ...passwordsOff(config),
        ...patternWarnings(patterns),
      ];
      if (input.flag('json')) {
        printJson(io, {
          ok: true,
          file,
          problems: [],
          ...(patterns.length > 0 && { patterns }),
          ...(warnings.length > 0 && { warnings }),
        });
        return exitCode.done;
      }
      io.stderr(warnings.map((warning) => `warning: ${warning}\n`).join(''));
      for (const { channel, pattern, models } of patterns) {
        io.stdout(`${channel}: '${pattern}' serves ${models.join(', ') || 'nothing'}\n`);
      }
      io.stdout(file === null ? 'no file: the built-in defaults apply\n' : `${file}: ok\n`);
      return exitCode.done;
    } catch (error) {
      if (!(error instanceof ConfigError) || !input.flag('json')) throw error;
      const file = error.problems[0]?.file ?? null;
      printJson(io, { ok: false, file, problems: error.problems });
      return exitCode.failed;
    }
  },
};

/** See `offerFirstKey`. */
function servedInstead(environmentKeys: Config['environmentKeys']): string {
  if (environmentKeys.length === 0) return 'its built-in demo, whose answers no model writes';
  const providers = environmentKeys.map(({ provider }) => provider).join(', ');
  return `the models of the providers whose keys are in the environment: ${providers}`;
}
