import { sql } from 'kysely';

/** Unix milliseconds by the clock of PostgreSQL. */
export const databaseNow = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
