import { expect, test } from 'vitest';
import type { OpenDatabase } from '#database/index.ts';
import { createApplier } from '#journal/applier.ts';

test('a replaced applier reports nothing twice', async () => {
  const told: unknown[] = [];
  const applied = { id: 7, last: 7, bytes: 70 };
  const applier = createApplier({
    // Batches up to the seventh are applied.
    file: { after: () => [].values(), one: () => undefined, reject: () => true },
    marks: { read: () => ({ end: applied, applied: { id: 3, last: 3, bytes: 30 } }) },
    database: {} as OpenDatabase,
    node: 'node_1',
    report: (message) => void told.push(message),
    applied,
    leftOver: 0,
    lookEvery: 100,
  });
  applier.drain();
  await applier.run();
  expect(told).toEqual([]);
});
