import { workerNumberVariable } from '#supervisor/messages.ts';
import { loadCommandConfig } from './command-config.ts';
import { type Command, commonOptions, exitCode, takeOver, takeOverOption } from './command.ts';

export const start: Command = {
  name: 'start',
  description:
    'Prints the address it listens on; the log goes to stderr. Without a file it starts on an embedded database with a\n' +
    'built-in simulator. SIGHUP reloads the file; SIGTERM lets running responses finish, then stops. With\n' +
    'server.workers above 1 it starts that many processes on one port and supervises them.',
  options: {
    config: commonOptions.config,
    'secrets-file': {
      type: 'string',
      value: 'PATH',
      help: 'on the first start, write password and key to this new file and print its path instead',
    },
    ...takeOverOption,
    adopt: {
      type: 'string',
      value: 'FOLDER',
      help: 'data folder of a gateway that will not start again: its journal is written to the database',
      multiple: true,
    },
  },
  positionals: [],
  async run(input, io) {
    const workerNumber = process.connected ? process.env[workerNumberVariable] : undefined;
    if (workerNumber !== undefined) {
      const { startWorker } = await import('./start-worker.ts');
      return startWorker(Number(workerNumber));
    }
    const { endOnSignals } = await import('./stop-signal.ts');
    endOnSignals();
    const config = await loadCommandConfig(input, io);
    if (config.server.workers > 1) {
      const { startSupervisor } = await import('./start-supervisor.ts');
      return startSupervisor(config, input, io);
    }
    const { startApp } = await import('#app/index.ts');
    const { greeting } = await import('./greeting.ts');
    const { createLogger } = await import('#observability/index.ts');
    const { logMemoryShortage, secretsFileOf, watchDamage } = await import('./start-steps.ts');
    const { reloadFile } = await import('./reload-file.ts');
    const { buildMissingConsole } = await import('./build-console.ts');
    const { logPasswordsOff, logWeakKeys } = await import('./file-warnings.ts');
    const { serveUntilStopped } = await import('./serve-until-stopped.ts');
    const logger = createLogger();
    logWeakKeys(config, logger);
    logPasswordsOff(config, logger);
    logMemoryShortage(config, logger);
    const damage = watchDamage(logger, config.server.drainTimeout);
    const { uncaught } = damage;
    const secretsFile = secretsFileOf(input, io);
    const app = await startApp({
      config,
      logger,
      uncaught,
      adopt: input.texts('adopt'),
      takesOver: input.flag(takeOver),
      ...(secretsFile !== undefined && { secretsFile }),
    });
    buildMissingConsole(config, logger);
    await serveUntilStopped({
      io,
      logger,
      dataDir: config.storage.dataDir,
      greeting: (version) => greeting(version, app, config),
      damage,
      reload: () =>
        reloadFile({ input, io, logger, running: config, apply: (read) => app.reload(read) }),
      stop: (keepListening, hurry) => app.close({ keepListening, hurry }),
    });
    await logger.close();
    return uncaught.exceptions > 0 ? exitCode.failed : exitCode.done;
  },
};
