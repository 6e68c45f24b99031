import type { TaskLook, VideoProtocolName } from '#canonical/index.ts';

/** How tasks of each dialect are submitted and followed. */
export type TaskSides = Readonly<Partial<Record<VideoProtocolName, TaskSide>>>;

/**
 * How tasks of one dialect are followed at a vendor. A task is submitted by POST to `Vendor.path` with `Vendor.headers`.
 * Everything here is pure; a body is parsed JSON, or null if it is not JSON.
 */
export interface TaskSide {
  /** Headers of a submit besides those of the credential. No other call may have them. */
  readonly submitHeaders: Readonly<Record<string, string>>;
  /** The upstream's id in the response to a submit; null: it has none, so the response is unusable. */
  readId(body: unknown): string | null;
  /** Asks for one task. */
  look(id: string): TaskCall;
  /** Null: the response cannot be read. */
  readLook(body: unknown): TaskLook | null;
  /** Asks for many tasks with one call. Absent: the vendor has no such call. */
  readonly list?: TaskList;
  /** Cancels a queued task. Absent: the vendor cannot. */
  cancel?(id: string): TaskCall;
  /** Looks per second that one channel may be sent, whether each asks for one task or many. */
  readonly looksPerSecond: number;
}

export interface TaskList {
  /** Ids in one call. */
  readonly most: number;
  call(ids: readonly string[]): TaskCall;
  /** By id; a task that the response does not name is absent. Null: the response cannot be read. */
  read(body: unknown): ReadonlyMap<string, TaskLook> | null;
}

/** Without a body. */
export interface TaskCall {
  readonly method: 'GET' | 'DELETE';
  /** After the base URL. */
  readonly path: string;
}
