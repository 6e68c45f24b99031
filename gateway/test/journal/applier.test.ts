import { expect, test } from 'vitest';
import type { OpenDatabase } from '#database/index.ts';
import { createApplier } from '#journal/applier.ts';
import type { JournalFile } from '#journal/journal-file.repository.ts';

test('a replaced applier reports nothing twice', async () => {
  const told: unknown[] = [];
  const file = {
    // Batches up to the seventh are applied and not yet removed.
    pendingAfter: (id: number) => ({ count: Math.max(7 - id, 0), bytes: 0 }),
    after: () => [],
  } as unknown as JournalFile;
  const applier = createApplier({
    file,
    database: {} as OpenDatabase,
    report: (message) => void told.push(message),
    appliedUpTo: 7,
    leftOver: 0,
  });
  applier.drain();
  await applier.run();
  expect(told).toEqual([]);
});
