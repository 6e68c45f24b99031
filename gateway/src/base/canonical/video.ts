export type VideoResolution = '480P' | '720P' | '1080P' | '4K';

/** What a request for a video asks for, with its defaults filled in: as it is priced and sent. */
export interface VideoDemand {
  readonly resolution: VideoResolution;
  /** Whole seconds. */
  readonly seconds: number;
  /** A video is among the sources. */
  readonly withVideo: boolean;
}

/** Plain JSON that clients may see, by the member names of the vendor. Made by an allow-list. */
export type TaskMembers = Readonly<Record<string, unknown>>;

/** A task as its upstream describes it. */
export interface TaskLook {
  /**
   * `unknown`: the upstream does not know the task, or says nothing about its state. `withheld`: it has succeeded, and no
   * address of the video can be shown.
   */
  readonly state:
    | 'queued'
    | 'running'
    | 'succeeded'
    | 'failed'
    | 'cancelled'
    | 'expired'
    | 'withheld'
    | 'unknown';
  /** Of a failed task: the vendor's code, if it looks like one (letters and dots, at most 100). Null: it named none. */
  readonly code: string | null;
  /** Of a task that succeeded, shown or not: what was made, in the unit of the dialect's price (milliseconds, tokens). */
  readonly usage: TaskUsage;
  readonly members: TaskMembers;
}

export interface TaskUsage {
  /** Null: it was not reported. */
  readonly quantity: number | null;
  /** What was reported cannot be a quantity: it is negative, fractional or no number. */
  readonly isImplausible: boolean;
}

/** `submitting`: the upstream has not accepted it yet, and no client knows of it. */
export type TaskState = 'submitting' | 'queued' | 'running' | 'succeeded' | 'failed' | 'expired';

/** A task as its owner sees it. */
export interface TaskView {
  /** Ours. */
  readonly id: string;
  /** As the client wrote it. */
  readonly model: string;
  readonly state: Exclude<TaskState, 'submitting'>;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Null: it has not ended. */
  readonly endedAt: number | null;
  readonly demand: VideoDemand;
  /** What the request asked for besides, such as its ratio. */
  readonly requestMembers: TaskMembers;
  /** What the upstream said at the last look. */
  readonly members: TaskMembers;
  /** Of a task that succeeded: what was charged for, in milliseconds or tokens. Null otherwise. */
  readonly quantity: number | null;
  /** Why it failed; null: it did not. */
  readonly failure: TaskFailure | null;
}

export interface TaskFailure {
  readonly kind: 'failed' | 'cancelled' | 'expired';
  /** The vendor's code. */
  readonly code: string | null;
}
