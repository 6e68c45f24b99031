import type {
  TaskMembers,
  TaskState,
  TaskView,
  VideoDemand,
  VideoProtocolName,
} from '#canonical/index.ts';
import type { ParseRoom } from '#json/index.ts';

/** One dialect of video tasks: how its requests are read, and what its clients are answered. All of it is pure. */
export interface VideoProtocol {
  readonly name: VideoProtocolName;
  /**
   * Reads a request up to its model.
   * @throws GatewayError `invalid_body`, `duplicate_key`, `model_required`
   */
  open(body: Buffer, room?: ParseRoom): OpenVideo;
  /** An id for a new task. @param now Unix milliseconds */
  newTaskId(now: number): string;
  /** Whether a text could be the id of a task. */
  isTaskId(text: string): boolean;
  /** The response to an accepted submit, as JSON text. @param requestId the `x-request-id` */
  encodeAccepted(taskId: string, requestId: string): string;
  /** The response to a look, as JSON text. */
  encodeTask(task: TaskView, requestId: string): string;
}

export interface OpenVideo {
  /** As the client wrote it. */
  readonly model: string;
  /** @throws GatewayError for the first rule of the dialect that the request breaks. */
  read(): VideoRequest;
}

/** A valid request. */
export interface VideoRequest {
  readonly demand: VideoDemand;
  /** What clients are shown of the request when they ask for the task. */
  readonly requestMembers: TaskMembers;
  /** Sound whose length is to be checked; null: there is none. */
  readonly audioUrl: string | null;
  /** The body to send: the name of the model at the channel goes in between, as JSON text. */
  readonly body: { readonly before: Buffer; readonly after: Buffer };
}

/** The list of tasks, which only the second dialect has. */
export interface VideoList {
  /** @throws GatewayError `invalid_value` */
  readListQuery(query: unknown): VideoListQuery;
  /** JSON text. @param total on all pages */
  encodeTaskList(total: number, tasks: readonly TaskView[]): string;
}

export interface VideoListQuery {
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
