import type { JsonObject } from '../json.ts';

export type Vendor = 'dashscope' | 'ark';

/** A task as it was submitted. */
export interface Task {
  readonly id: string;
  readonly vendor: Vendor;
  readonly model: string;
  /** The bearer token of the submit. */
  readonly credential: string;
  readonly body: JsonObject;
  readonly seconds: number;
  /** As the vendor writes it; dashscope: `720P`, ark: `720p`. */
  readonly resolution: string;
  readonly prompt: string;
  /** Milliseconds by the simulator's clock. */
  readonly submittedAt: number;
  /** After this time it expires if it has not ended; `Infinity`: never. */
  readonly expiresAt: number;
  cancelledAt: number | null;
  /** How often it was asked for, alone or in a list. */
  looks: number;
}

/** How a task stands. `missing`: the vendor has lost it. */
export type State =
  | 'queued'
  | 'running'
  | 'suspended'
  | 'succeeded'
  | 'failed'
  | 'cancelled'
  | 'expired'
  | 'missing';

/** Milliseconds after the submit. */
const starts = 1_000;
const ends = 4_000;
const slowEnds = 120_000;
const lateEnds = 25 * 3_600_000;

/** When an ordinary task ends, by the word in its model's name. */
function endOf({ model, submittedAt }: Task): number {
  if (model.includes('stuck')) return Infinity;
  if (model.includes('late')) return submittedAt + lateEnds;
  return submittedAt + (model.includes('slow') ? slowEnds : ends);
}

/** Where a task stands at a moment. Words in the model's name decide: see the README. */
export function stateAt(task: Task, now: number): State {
  const { model, submittedAt, expiresAt, cancelledAt } = task;
  if (model.includes('lost')) return 'missing';
  if (cancelledAt !== null) return 'cancelled';
  const age = now - submittedAt;
  if (now >= expiresAt && endOf(task) > expiresAt) return 'expired';
  if (age < starts) return 'queued';
  if (now < endOf(task)) {
    if (!model.includes('strange')) return 'running';
    return age < 2_000 ? 'suspended' : age < 3_000 ? 'missing' : 'running';
  }
  if (model.includes('failing')) return 'failed';
  return model.includes('cancelled') ? 'cancelled' : 'succeeded';
}

/** When the task reached its end, which it has by `now`. */
export function endedAt(task: Task): number {
  const { cancelledAt, expiresAt } = task;
  return cancelledAt ?? Math.min(endOf(task), expiresAt);
}
