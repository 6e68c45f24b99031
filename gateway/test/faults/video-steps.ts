import { expect } from 'vitest';
import { submitVideo, type Dialect } from '../behaviour/video-requests.ts';
import type { PrivateRedis } from '../limits/private-redis.ts';
import type { Fate } from '../support/tcp-proxy.ts';
import { costOf, rowsOf, startVideoPlace, usageOf } from './video-place.ts';

/** What the gateway says to PostgreSQL at a step of a task, on one connection. */
const statements = {
  create: [/insert into "tasks"/, /commit\0/],
  accept: [/update "tasks" set "upstream_id"/, /commit\0/],
  claim: [/update "tasks" set "lease_owner"/],
  look: [/with given/],
  end: [/update "tasks" set "state"/, /insert into usage /, /commit\0/],
} as const;

/** A moment at which the process is killed. */
export interface Step {
  readonly step: keyof typeof statements;
  /** Whether PostgreSQL carried the last statement out. */
  readonly isDone: boolean;
  /** What is in the books in the end: nothing, a refund or a charge; and how often the upstream was asked for a video. */
  readonly books: 'nothing' | 'free' | 'charged';
  readonly submits: 0 | 1;
}

export const steps: readonly Step[] = [
  { step: 'create', isDone: false, books: 'nothing', submits: 0 },
  { step: 'create', isDone: true, books: 'free', submits: 0 },
  { step: 'accept', isDone: false, books: 'free', submits: 1 },
  { step: 'accept', isDone: true, books: 'charged', submits: 1 },
  { step: 'claim', isDone: false, books: 'charged', submits: 1 },
  { step: 'claim', isDone: true, books: 'charged', submits: 1 },
  { step: 'look', isDone: false, books: 'charged', submits: 1 },
  { step: 'look', isDone: true, books: 'charged', submits: 1 },
  { step: 'end', isDone: false, books: 'charged', submits: 1 },
  { step: 'end', isDone: true, books: 'charged', submits: 1 },
];

export const nameOf = ({ step, isDone }: Step): string =>
  `${step}, ${isDone ? 'which was carried out' : 'which was lost'}`;

/** Kills a gateway at a step of a task, starts it again, and looks at the books. */
export async function assertBooksAfterKillAt(
  { step, isDone, books, submits }: Step,
  dialect: Dialect,
  redis: PrivateRedis,
): Promise<void> {
  const place = await startVideoPlace('postgres', redis.url);
  const { proxy, upstream } = place;
  if (proxy === null) throw new Error('there is no PostgreSQL');
  const fate: Fate = isDone ? 'reply-held' : 'late';
  const isOfSubmit = step === 'create' || step === 'accept';
  if (!isOfSubmit) {
    expect((await submitVideo(place.url, dialect)).status).toBe(200);
    if (step === 'end') upstream.end({ status: 'succeeded', usage: usageOf(dialect) });
  }
  const { met } = proxy.intercept(statements[step], fate);
  const lost = isOfSubmit ? submitVideo(place.url, dialect).catch(() => null) : null;
  await met;
  await place.kill();
  // What it had not sent before is not sent by anybody.
  proxy.cut();
  proxy.restore();
  if (lost !== null) expect(await lost).toBe(null);
  upstream.end({ status: 'succeeded', usage: usageOf(dialect) });
  await place.start();
  const { kysely } = place.database;
  const open = () =>
    kysely.selectFrom('tasks').select('id').where('ended_at', 'is', null).execute();
  await expect.poll(open, { timeout: 60_000, interval: 200 }).toEqual([]);
  const expected = {
    nothing: [],
    free: [{ outcome: 'failed', cost: null }],
    charged: [{ outcome: 'completed', cost: costOf(dialect) }],
  }[books];
  expect(await rowsOf(place)).toMatchObject(expected);
  expect(upstream.submits.length).toBe(submits);
  await place.finish();
}
