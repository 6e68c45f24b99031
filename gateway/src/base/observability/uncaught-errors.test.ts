import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { watchUncaughtErrors } from './uncaught-errors.ts';

function watch() {
  const source = new EventEmitter();
  const said: string[] = [];
  const counts = watchUncaughtErrors({
    source: source as unknown as NodeJS.Process,
    log: { error: (message) => void said.push(message) },
    onDamage: () => void said.push('damaged'),
    onHopeless: () => void said.push('hopeless'),
  });
  return { source, said, counts };
}

test('the first exception reports damage, later ones do not', () => {
  const { source, said, counts } = watch();
  source.emit('uncaughtException', new Error('one'));
  source.emit('uncaughtException', new Error('two'));
  expect(said).toEqual(['uncaught exception', 'damaged', 'uncaught exception']);
  expect(counts).toEqual({ exceptions: 2, rejections: 0 });
});

test('rejections are logged and counted, and report no damage', () => {
  const { source, said, counts } = watch();
  for (let time = 0; time < 20; time += 1) source.emit('unhandledRejection', new Error('late'));
  expect(new Set(said)).toEqual(new Set(['unhandled rejection']));
  expect(counts).toEqual({ exceptions: 0, rejections: 20 });
});

test('a process that keeps throwing is hopeless, and does not fill the log', () => {
  const { source, said } = watch();
  for (let time = 0; time < 1_000; time += 1) source.emit('uncaughtException', new Error('again'));
  expect(said.filter((line) => line === 'uncaught exception')).toHaveLength(10);
  expect(said.filter((line) => line === 'hopeless')).toHaveLength(1);
});
