import { createDatabaseBreaker } from '#database/index.ts';
import { fromDatabase } from '../from-database.ts';
import { createSlots } from './slots.ts';

/** They share the database with requests for models, and anybody can cause them with a cookie that they made up. */
const atOnce = 2;
const waiting = 200;

/**
 * Asks the database who somebody is.
 * @throws ApiError `database_away`, at once if it did not respond a moment ago, or `too_many`
 */
export type LookUp = <Result>(ask: () => Promise<Result>) => Promise<Result>;

export function createLookUp(): LookUp {
  const slots = createSlots(atOnce, waiting);
  const breaker = createDatabaseBreaker();
  return (ask) => slots.run(() => fromDatabase(() => breaker(ask)));
}
