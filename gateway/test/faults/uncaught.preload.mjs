/** Loaded before the gateway by the test of uncaught errors: a defect at the word of a signal. */
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  process.on('SIGUSR2', () => {
    setTimeout(() => {
      throw new Error('a defect that was put in');
    }, 0);
  });
  process.on('SIGPIPE', () => {
    void Promise.reject(new Error('a promise that was put in'));
  });
  if (process.env.DEFECT_AGAIN !== undefined) {
    process.on('SIGUSR2', () => {
      setInterval(() => {
        throw new Error('a defect that repeats');
      }, 10);
    });
  }
}
