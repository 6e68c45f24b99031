import type { Hold, CostLine } from '#billing/index.ts';
import type {
  TaskMembers,
  TaskState,
  TaskView,
  VideoDemand,
  VideoProtocolName,
} from '#canonical/index.ts';
import type { Channel } from '#catalogue/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { Caller } from '#identity/index.ts';
import type { AttemptRecord } from '#usage/index.ts';
import type { TaskReadings } from './readings.ts';
import type { Results } from './results.ts';

/** Video tasks: their rows, their holds, and the loop that polls them until they end. */
export interface Tasks {
  /**
   * Makes the row, which takes over the hold, in one transaction. Submit the task only after that.
   * @throws GatewayError `unavailable`: the hold is ended, and no row will ever be shown or charged.
   */
  create(task: NewTask): Promise<OpenTask>;
  /**
   * An upstream has accepted the task. Without a database it is tried for ten seconds, and then on in the background.
   * @throws GatewayError `unavailable` when it is not stored yet, or when the task was given up meanwhile.
   */
  accept(task: OpenTask, acceptance: AcceptedTask): Promise<void>;
  /**
   * The submit failed: ends row and hold and writes the usage row, in one transaction; of an uncertain submit only
   * after the time of a lease. @throws GatewayError `unavailable`
   */
  refuse(task: OpenTask, refusal: TaskRefusal): Promise<void>;
  /**
   * The owner's task, after a look at it if the last one is older than five seconds. Null: the owner has no such task.
   * @throws GatewayError `unavailable`
   */
  find(owner: TaskOwner, id: string): Promise<TaskView | null>;
  /** The newest first. @throws GatewayError `unavailable` */
  list(owner: TaskOwner, query: TaskQuery): Promise<TaskPage>;
  /**
   * Cancels a task that is queued, once its upstream has confirmed it; hides one that has ended. `running`: it can be
   * neither. Null: as for `find`. @throws GatewayError `unavailable`
   */
  remove(owner: TaskOwner, id: string): Promise<'cancelled' | 'hidden' | 'running' | null>;
  /** The copy of a result that a link names. @throws what its store throws */
  readonly findResult: Results['find'];
  readonly readings: TaskReadings;
  /** Stops looking and gives the leases back. Never rejects. */
  close(): Promise<void>;
}

/** A task whose hold exists. */
export interface NewTask {
  /** Ours, as the client will know it. */
  readonly id: string;
  readonly protocol: VideoProtocolName;
  /** The id of the usage row, and its time in Unix milliseconds. */
  readonly requestId: string;
  readonly arrivedAt: number;
  readonly caller: Caller;
  /** As the client wrote it. */
  readonly model: string;
  readonly userAgent: string | null;
  readonly demand: VideoDemand;
  readonly requestMembers: TaskMembers;
  /** Both null: the task is free. */
  readonly hold: Hold | null;
  readonly bound: CostLine<bigint> | null;
}

/** A task that is being submitted by this process. */
export interface OpenTask {
  readonly id: string;
}

export interface AcceptedTask {
  readonly upstreamId: string;
  readonly channel: Channel;
  readonly upstreamModel: string;
  /** The credential of the submit; null: it had none. */
  readonly secret: string | null;
  readonly attempts: readonly AttemptRecord[];
}

export interface TaskRefusal {
  readonly error: GatewayError;
  readonly attempts: readonly AttemptRecord[];
  /** There is no id, but an upstream may have accepted the task: its hold is kept for the duration of a lease. */
  readonly isUncertain: boolean;
}

/** Whose tasks: those of the user in one dialect, whatever key or team they were submitted with. */
export interface TaskOwner {
  readonly userId: string;
  readonly protocol: VideoProtocolName;
}

export interface TaskQuery {
  /** From 1. */
  readonly pageNumber: number;
  readonly pageSize: number;
  /** Null: any. */
  readonly states: readonly TaskState[] | null;
  /** As the client wrote it; null: any. */
  readonly model: string | null;
  /** Null: all. */
  readonly ids: readonly string[] | null;
}

export interface TaskPage {
  /** On all pages. */
  readonly total: number;
  readonly tasks: readonly TaskView[];
}
