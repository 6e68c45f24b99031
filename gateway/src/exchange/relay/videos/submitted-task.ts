import type { Route } from '#catalogue/index.ts';
import { UnreadableResponse } from '#protocols/index.ts';
import { parseWithIds, type TaskSide } from '#vendors/index.ts';
import type { ResponseReader } from '../attempts/response-reader.ts';

/** A task that an upstream has accepted, and how to ask for it. */
export interface SubmittedTask {
  readonly upstreamId: string;
  readonly route: Route;
  readonly secret: string | null;
}

/** In bytes. The response is little more than an id. */
const largestResponse = 1024 * 1024;

/** Reads the response to a submit. */
export function readIdWith(
  side: TaskSide,
  sentTo: Omit<SubmittedTask, 'upstreamId'>,
): ResponseReader<SubmittedTask> {
  return {
    largest: largestResponse,
    read(body) {
      const upstreamId = side.readId(parse(body));
      if (upstreamId === null) throw new UnreadableResponse('no id of a task');
      return { ...sentTo, upstreamId };
    },
  };
}

function parse(body: Buffer): unknown {
  try {
    return parseWithIds(body);
  } catch (error) {
    throw new UnreadableResponse(`not JSON: ${(error as Error).message}`);
  }
}
