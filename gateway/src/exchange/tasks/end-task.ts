import { chargeOfTask, measureTask, videoQuantity, type TaskCharge } from '#billing/index.ts';
import { noTokens, type TaskUsage } from '#canonical/index.ts';
import type { AttemptRecord, ChargeRecord, ExchangeRecord } from '#usage/index.ts';
import { storeEnd } from './ends.repository.ts';
import type { TaskParts } from './parts.ts';
import { nextLateLook } from './schedule.ts';
import { tooLate, type TaskEnd } from './state.ts';
import { metersOf, type TaskRow, unitsOf } from './task-row.ts';

export interface Ending {
  readonly end: TaskEnd;
  /** What it made, if it succeeded. */
  readonly usage: TaskUsage;
  /** As in the usage row: the status of the response, and the name of the error. */
  readonly status: number;
  readonly error: string | null;
  readonly attempts: readonly AttemptRecord[];
}

/** Of a task that has a row. */
export interface EndedTask {
  readonly record: ExchangeRecord;
  /** The row after its end. */
  readonly row: TaskRow;
}

interface Outcome {
  readonly charge: ChargeRecord | null;
  /** What was made; null: nothing. */
  readonly measure: Pick<TaskCharge, 'quantity' | 'source'> | null;
}

/**
 * Ends a task and charges it if it succeeded: state, usage row, books, meters and hold in one transaction.
 * @returns null: it had ended, or another node has claimed it since
 * @throws the error of the database, or GatewayError `unavailable`; then nothing has changed
 */
export async function endTask(
  { database, billing, clock, settings, onEnded, results }: TaskParts,
  row: TaskRow,
  ending: Ending,
): Promise<EndedTask | null> {
  const now = clock.now();
  const { end, attempts } = ending;
  const outcome = outcomeOf(row, ending, settings.missingUsage === 'estimate');
  const record = recordOf(row, ending, outcome, now);
  const hold =
    row.terms === null || row.held === null
      ? null
      : { meters: metersOf(row, row.terms), amount: row.held };
  const endedRow = {
    state: end.state,
    failure: end.failure,
    members: end.members ?? row.members,
    quantity: outcome.measure?.quantity ?? null,
    attempts,
    due_at: end === tooLate && row.access !== null ? nextLateLook(now, 0) : null,
    ended_at: now,
  };
  if (hold !== null) await billing.taskEnding(hold.meters);
  const copies = end.state === 'succeeded' ? results : null;
  const isStored = await storeEnd(database, row, asColumns(endedRow), record, hold, copies);
  if (!isStored) return null;
  if (hold !== null) {
    const cost = BigInt(outcome.charge?.cost ?? '0');
    billing.taskEnded({ meters: hold.meters, heldAmount: hold.amount, cost });
  }
  onEnded(record);
  return { record, row: { ...row, ...endedRow, updated_at: now } };
}

/** Only success is charged. */
function outcomeOf(row: TaskRow, { end, usage }: Ending, isEstimated: boolean): Outcome {
  if (end.state !== 'succeeded') return { charge: null, measure: null };
  const { protocol, demand, terms } = row;
  const missingUsage = isEstimated ? 'estimate' : 'zero';
  if (terms === null) {
    const bound = videoQuantity(protocol, demand);
    return { charge: null, measure: measureTask(bound, protocol, usage, missingUsage) };
  }
  const { charge, ...measure } = chargeOfTask(terms, protocol, usage, missingUsage);
  return { charge, measure };
}

function recordOf(
  row: TaskRow,
  { end, status, error, attempts }: Ending,
  { charge, measure }: Outcome,
  now: number,
): ExchangeRecord {
  return {
    id: row.request_id,
    time: row.time,
    keyId: row.key_id,
    userId: row.user_id,
    teamId: row.team_id,
    group: row.group_name,
    model: row.model,
    upstreamModel: row.upstream_model,
    channel: row.channel,
    protocol: row.protocol,
    operation: 'generate',
    stream: false,
    outcome: end.state === 'succeeded' ? 'completed' : 'failed',
    status,
    error,
    attempts,
    tokens: noTokens,
    usageSource: measure?.source ?? 'none',
    ttftMs: null,
    durationMs: Math.max(0, now - row.time),
    rewrites: [],
    losses: [],
    userAgent: row.user_agent,
    charge,
    units: unitsOf(row, measure?.quantity ?? null),
  };
}

function asColumns<Ended extends { failure: unknown; members: unknown; attempts: unknown }>(
  endedRow: Ended,
) {
  const { failure, members, attempts } = endedRow;
  return {
    ...endedRow,
    failure: failure === null ? null : JSON.stringify(failure),
    members: JSON.stringify(members),
    attempts: JSON.stringify(attempts),
  };
}
