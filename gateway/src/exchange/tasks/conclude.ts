import type { AttemptRecord } from '#usage/index.ts';
import { catalogue, GatewayError, type ErrorName } from '#errors/index.ts';
import { measureTask, videoQuantity } from '#billing/index.ts';
import { endTask, type EndedTask } from './end-task.ts';
import { storeLateLook } from './ends.repository.ts';
import type { Seen, Verdict } from './judge.ts';
import type { TaskParts } from './parts.ts';
import { nextLateLook } from './schedule.ts';
import { notAccepted, tooLate } from './state.ts';
import { madeOf, type TaskRow } from './task-row.ts';

/** Ends a task as a look at it says. Null: another node was first. @throws the error of the database */
export async function concludeAs(
  parts: TaskParts,
  row: TaskRow,
  { end, usage }: Extract<Verdict, { kind: 'ends' }>,
): Promise<EndedTask | null> {
  const error = end.failure === null ? null : `task_${end.failure.kind}`;
  const { attempts } = row;
  const endedTask = await endTask(parts, row, { end, usage, status: 200, error, attempts });
  if (endedTask !== null && end === tooLate) parts.tally.expired += 1;
  return endedTask;
}

/**
 * Ends a task without an upstream id: its process was killed between sending the submit and storing the response, or
 * there was no usable response. It is never sent again. @throws the error of the database
 */
export async function giveUp(parts: TaskParts, row: TaskRow): Promise<void> {
  const { errorName, entry } = new GatewayError(submitErrorOf(row));
  const isKnown = row.attempts.length > 0;
  const attempts = isKnown ? row.attempts : [uncertainAttempt(row, parts.clock.now())];
  const endedTask = await endTask(parts, row, {
    end: notAccepted,
    usage: { quantity: null, isImplausible: false },
    status: entry.status,
    error: errorName,
    attempts,
  });
  if (endedTask !== null && !isKnown) noteUncertain(parts, row);
}

/** Counts and logs a submit that its upstream may or may not have accepted. */
export function noteUncertain(parts: Pick<TaskParts, 'tally' | 'log'>, row: TaskRow): void {
  parts.tally.uncertain += 1;
  parts.log.warn('a submit was cut short: its upstream may make a video that nobody gets', {
    component: 'tasks',
    requestId: row.request_id,
  });
}

/** The error that its client got, if it got any. */
function submitErrorOf({ failure }: TaskRow): ErrorName {
  const name = failure?.code ?? '';
  return Object.hasOwn(catalogue, name) ? (name as ErrorName) : 'unavailable';
}

/** The channel is no longer known. */
function uncertainAttempt(row: TaskRow, now: number): AttemptRecord {
  return {
    channel: '',
    class: 'uncertain',
    status: null,
    result: 'killed',
    startedAt: row.created_at,
    durationMs: Math.max(0, now - row.created_at),
    upstreamRequestId: null,
  };
}

/**
 * Stores a look at a task that has expired. If it succeeded after all, even if its video could not be
 * shown, the operator has lost what its upstream charges.
 * @throws the error of the database
 */
export async function storeLate(parts: TaskParts, row: TaskRow, observation: Seen): Promise<void> {
  const lateLooks = row.late_looks + 1;
  if (observation?.state !== 'succeeded' && observation?.state !== 'withheld') {
    const dueAt = nextLateLook(row.ended_at!, lateLooks);
    const late = { lateLooks, dueAt, lostQuantity: null, attempts: null };
    await storeLateLook(parts.database, row, late);
    return;
  }
  const bound = videoQuantity(row.protocol, row.demand);
  const { quantity } = measureTask(bound, row.protocol, observation.usage, 'estimate');
  const attempts = row.attempts.map((attempt, at, { length }) =>
    at === length - 1 ? { ...attempt, units: madeOf(row.protocol, quantity) } : attempt,
  );
  const lateLook = { lateLooks, dueAt: null, lostQuantity: quantity, attempts };
  if (!(await storeLateLook(parts.database, row, lateLook))) return;
  parts.tally.lost += 1;
  parts.log.warn('a task that had expired succeeded: its upstream charges it to the operator', {
    component: 'tasks',
    requestId: row.request_id,
    ...(row.channel !== null && { channel: row.channel }),
  });
}
