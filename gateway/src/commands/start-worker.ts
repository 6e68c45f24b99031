import { takeSeat } from '../supervisor/index.ts';
import { exitCode } from './command.ts';

/** One of the processes of a supervisor, which tells it what to do. @param number its seat, from 1 */
export async function startWorker(number: number): Promise<number> {
  // First of all, since until then signals end this process as they end any other.
  const seat = await takeSeat(number);
  const { startApp } = await import('../app.ts');
  const { createLogger } = await import('../observability/index.ts');
  const { greeting } = await import('./greeting.ts');
  const { programVersion } = await import('./version.ts');
  const { config } = seat;
  const logger = createLogger();
  try {
    const app = await startApp({ config, logger, worker: seat });
    seat.listening(greeting(await programVersion(), app, config), async (question) => {
      if (question === 'metrics') return app.metrics.collect();
      await app.refresh();
      return null;
    });
    const { keepListening } = await seat.stop;
    await app.close({ keepListening });
    return exitCode.done;
  } finally {
    await logger.close();
    seat.leave();
  }
}
