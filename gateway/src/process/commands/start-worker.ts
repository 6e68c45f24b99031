import { connectToSupervisor } from '#supervisor/index.ts';
import { exitCode, programVersion } from './command.ts';

/** One process of a supervisor, which controls it. @param number counted from 1 */
export async function startWorker(number: number): Promise<number> {
  // Comes first: until then signals end this process like any other.
  const supervisor = await connectToSupervisor(number);
  const { startApp } = await import('#app/index.ts');
  const { createLogger } = await import('#observability/index.ts');
  const { watchDamage } = await import('./start-steps.ts');
  const { greeting } = await import('./greeting.ts');
  const { keepListeningAfter } = await import('./stop-signal.ts');
  const { config } = supervisor;
  const logger = createLogger();
  const damage = watchDamage(logger, config.server.drainTimeout);
  const { uncaught } = damage;
  try {
    const app = await startApp({ config, logger, uncaught, worker: supervisor });
    supervisor.listening(greeting(await programVersion(), app, config), async (question) => {
      if (question === 'metrics') return app.metrics.collect();
      await app.refresh();
      return null;
    });
    supervisor.watchProblems(app.problems);
    const damageReport = damage.happened.then((reason) => ({
      keepListening: keepListeningAfter(reason),
    }));
    const { keepListening } = await Promise.race([supervisor.stop, damageReport]);
    await app.close({ keepListening, hurry: supervisor.hurry });
    return uncaught.exceptions > 0 ? exitCode.failed : exitCode.done;
  } finally {
    await logger.close();
    supervisor.leave();
  }
}
