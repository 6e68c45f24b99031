import { expect, onTestFinished, test, vi } from 'vitest';
import { endOnSignals, stopSignals } from './stop-signal.ts';

const signals = ['SIGTERM', 'SIGINT'] as const;

test('in a container a signal during the start ends the gateway, and a later one stops it in order', async () => {
  const before = signals.map((signal) => [signal, process.rawListeners(signal)] as const);
  onTestFinished(() => {
    vi.restoreAllMocks();
    for (const [signal, listeners] of before) {
      process.removeAllListeners(signal);
      for (const listener of listeners) process.on(signal, listener);
    }
  });
  for (const signal of signals) process.removeAllListeners(signal);
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);

  endOnSignals(2);
  expect(process.emit('SIGTERM', 'SIGTERM')).toBe(false);
  endOnSignals(1);
  process.emit('SIGTERM', 'SIGTERM');
  process.emit('SIGINT', 'SIGINT');
  expect(exit.mock.calls).toEqual([[143], [130]]);

  const { stop } = stopSignals();
  process.emit('SIGTERM', 'SIGTERM');
  expect(await stop).toBe('SIGTERM');
  expect(exit).toHaveBeenCalledTimes(2);
});
