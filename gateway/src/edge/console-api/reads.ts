import type { OpenDatabase } from '#database/index.ts';
import { fromDatabase } from './from-database.ts';
import { createSlots } from './sessions/slots.ts';

/**
 * Reads for pages, through a connection of their own, so that no request for a model waits for a page.
 * @throws ApiError `too_many` if too many wait already, `database_away`
 */
export type Reads = <Result>(
  read: (db: OpenDatabase['kysely']) => Promise<Result>,
) => Promise<Result>;

/** Reads at a time, and how many may wait. */
const atOnce = 4;
const waiting = 60;

/** @param reading opens the connection at the first read */
export function createReads(reading: () => OpenDatabase): Reads {
  const slots = createSlots(atOnce, waiting);
  return (read) => slots.run(() => fromDatabase(() => read(reading().kysely)));
}
