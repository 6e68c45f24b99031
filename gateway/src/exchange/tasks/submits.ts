import { setTimeout as delay } from 'node:timers/promises';
import { termsOfTask, type MovedHold } from '#billing/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { TaskFailure } from '#canonical/index.ts';
import { isDataError, type AttemptRecord } from '#usage/index.ts';
import { sealAccess } from './access.ts';
import { noteUncertain } from './conclude.ts';
import { endTask } from './end-task.ts';
import { orUnavailable, unavailable } from './errors.ts';
import type { TaskParts } from './parts.ts';
import { lookRules } from './schedule.ts';
import { notAccepted } from './state.ts';
import {
  insertTask,
  renewSubmits,
  startOf,
  storeAccepted,
  storeUncertain,
  type NewRow,
} from './submits.repository.ts';
import { readRow, type TaskRow } from './task-row.ts';
import type { AcceptedTask, NewTask, OpenTask, TaskRefusal, Tasks } from './tasks.ts';

/** Milliseconds: how long a client waits for what must be stored, between two tries, and between two renewals. */
const patience = 10_000;
const again = 1_000;
const renewEvery = lookRules.lease / 3;

/** The beginnings of tasks. */
export interface Submits extends Pick<Tasks, 'create' | 'accept' | 'refuse'> {
  /** Ids of the tasks that this process is submitting. */
  readonly openIds: readonly string[];
  /** Stops what continues in the background. */
  stop(): void;
}

/** @param onDue called when a task is to be followed, or given up. @param due Unix milliseconds */
export function createSubmits(parts: TaskParts, onDue: (dueAt: number) => void): Submits {
  const { database, owner, billing, secrets, clock, settings, log } = parts;
  /** By id; a task leaves when its row says what became of the submit. */
  const openRows = new Map<string, TaskRow>();
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | null = null;

  function begin(row: TaskRow): void {
    openRows.set(row.id, row);
    timer ??= setInterval(() => {
      // Without a database no other node can claim them either.
      renewSubmits(database, [...openRows.keys()], owner).catch(() => {});
    }, renewEvery).unref();
  }

  function end(id: string): void {
    openRows.delete(id);
    if (openRows.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  }

  async function insert(row: NewRow, { hold }: NewTask): Promise<void> {
    const movedHold: MovedHold | null = hold === null ? null : billing.taskBeginning(hold);
    let isCommitting = false;
    try {
      await insertTask(database, row, movedHold, owner, () => (isCommitting = true));
    } catch (error) {
      // SQLite undoes a commit that fails. On PostgreSQL the outcome is unknown if the connection broke.
      const isUnknown = isCommitting && database.dialect === 'postgres';
      if (hold !== null) billing.taskBegun(hold, isUnknown ? 'unknown' : 'rolled-back');
      throw error;
    }
    if (hold !== null) billing.taskBegun(hold, 'committed');
  }

  /** Tries until it works or the process stops. @throws GatewayError after that. */
  async function persist<Result>(run: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await run();
      } catch (error) {
        if (stopping.signal.aborted || isDataError(error)) throw unavailable(error);
        await delay(again, undefined, { ref: false, signal: stopping.signal }).catch(() => {});
      }
    }
  }

  async function store(task: OpenTask, acceptance: AcceptedTask): Promise<void> {
    const now = clock.now();
    const { channel, upstreamModel, upstreamId, attempts } = acceptance;
    const dueAt = now + settings.pollInterval;
    const row = {
      upstream_id: upstreamId,
      channel: channel.name,
      channel_id: channel.id,
      upstream_model: upstreamModel,
      access: sealAccess(secrets, task.id, acceptance),
      attempts: JSON.stringify(attempts),
      accepted_at: now,
      due_at: dueAt,
    };
    const isStored = await persist(() => storeAccepted(database, task.id, row));
    end(task.id);
    if (isStored) {
      onDue(dueAt);
      return;
    }
    log.warn('a task was given up before its upstream accepted it', {
      component: 'tasks',
      channel: channel.name,
      detail: task.id,
    });
    throw unavailable();
  }

  async function keepUncertain(
    id: string,
    { errorName }: GatewayError,
    attempts: readonly AttemptRecord[],
  ): Promise<void> {
    const dueAt = clock.now() + lookRules.lease;
    const failure: TaskFailure = { kind: 'failed', code: errorName };
    const row = {
      failure: JSON.stringify(failure),
      attempts: JSON.stringify(attempts),
      due_at: dueAt,
    };
    await persist(() => storeUncertain(database, id, row));
    end(id);
    onDue(dueAt);
  }

  return {
    get openIds() {
      return [...openRows.keys()];
    },

    async create(task) {
      const row = newRow(task, clock.now());
      return orUnavailable(async () => {
        await insert(row, task);
        begin(readRow({ ...startOf(row), lease_owner: owner, lease_until: null }));
        return { id: task.id };
      });
    },

    accept: (task, acceptance) => within(patience, store(task, acceptance)),

    async refuse({ id }, { error, attempts, isUncertain }: TaskRefusal) {
      const row = openRows.get(id);
      if (row === undefined) return;
      if (isUncertain) {
        noteUncertain(parts, row);
        return within(patience, keepUncertain(id, error, attempts));
      }
      const { status } = error.entry;
      const usage = { quantity: null, isImplausible: false };
      const ending = { end: notAccepted, usage, status, error: error.errorName, attempts };
      const storing = persist(() => endTask(parts, row, ending)).then(() => end(id));
      await within(patience, storing);
    },

    stop() {
      stopping.abort();
      if (timer !== null) clearInterval(timer);
    },
  };
}

/** @throws GatewayError `unavailable` if it takes longer; then it continues in the background. */
async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(unavailable()), milliseconds).unref();
  try {
    await Promise.race([work, promise]);
  } catch (error) {
    throw error instanceof GatewayError ? error : unavailable(error);
  } finally {
    clearTimeout(timer);
    // The client may have left.
    work.catch(() => {});
  }
}

function newRow(task: NewTask, now: number): NewRow {
  const { caller, hold, bound } = task;
  const terms = hold === null || bound === null ? null : termsOfTask(hold, bound);
  return {
    id: task.id,
    protocol: task.protocol,
    request_id: task.requestId,
    time: task.arrivedAt,
    key_id: caller.keyId,
    user_id: caller.userId,
    team_id: caller.teamId,
    group_name: caller.group,
    user_agent: task.userAgent,
    model: task.model,
    demand: JSON.stringify(task.demand),
    asked: JSON.stringify(task.requestMembers),
    terms: terms === null ? null : JSON.stringify(terms),
    held: hold?.amount ?? null,
    created_at: now,
  };
}
