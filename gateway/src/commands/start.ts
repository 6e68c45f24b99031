import { seatVariable } from '../supervisor/messages.ts';
import { type Command, commonOptions, exitCode } from './command.ts';
import { programVersion } from './version.ts';

export const start: Command = {
  name: 'start',
  description:
    'Prints where it listens; the log goes to stderr. Without a file it starts on an embedded database with a\n' +
    'built-in simulator. SIGHUP reads the file again, SIGTERM lets running answers end and stops. With\n' +
    'server.workers above 1 it starts as many processes on one port and looks after them.',
  options: {
    config: commonOptions.config,
    adopt: {
      type: 'string',
      value: 'FOLDER',
      help: 'a data folder of a gateway that will not start again: its journal is put into the database',
      multiple: true,
    },
  },
  positionals: [],
  async run(input, io) {
    const seat = process.connected ? process.env[seatVariable] : undefined;
    if (seat !== undefined) {
      const { startWorker } = await import('./start-worker.ts');
      return startWorker(Number(seat));
    }
    const { loadCommandConfig } = await import('./workspace.ts');
    const config = await loadCommandConfig(input, io);
    if (config.server.workers > 1) {
      const { startSupervisor } = await import('./start-supervisor.ts');
      return startSupervisor(config, input, io);
    }
    const { startApp } = await import('../app.ts');
    const { greeting } = await import('./greeting.ts');
    const { createLogger } = await import('../observability/index.ts');
    const { watchDamage } = await import('./damage.ts');
    const { reloadFile } = await import('./reload-file.ts');
    const { removePidFile, writePidFile } = await import('./runtime-files.ts');
    const { keepListeningAfter, stopSignals } = await import('./stop-signal.ts');
    const logger = createLogger();
    const damage = watchDamage(logger, config.server.drainTimeout);
    const { uncaught } = damage;
    const app = await startApp({ config, logger, uncaught, adopt: input.texts('adopt') });
    const { dataDir } = config.storage;
    const reload = () =>
      void reloadFile({ input, io, logger, running: config, apply: (read) => app.reload(read) });
    process.on('SIGHUP', reload);
    const signals = stopSignals();
    writePidFile(dataDir, { pid: process.pid, startedAt: Date.now() });
    const version = await programVersion();
    io.stdout(greeting(version, app, config));
    logger.info('started', { detail: version });
    const reason = await Promise.race([signals.stop, damage.happened]);
    logger.info('stopping', { detail: reason });
    process.off('SIGHUP', reload);
    await app.close({ keepListening: keepListeningAfter(reason), hurry: signals.hurry });
    removePidFile(dataDir);
    logger.info('stopped');
    await logger.close();
    return uncaught.exceptions > 0 ? exitCode.failed : exitCode.done;
  },
};
