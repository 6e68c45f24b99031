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
      const response = parse(body);
      const upstreamId = side.readId(response);
      if (upstreamId === null) throw new UnreadableResponse('no id of a task', errorIn(response));
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

const successCodes = /^(?:0|200|ok|success)$/i;

/** The response if it is an error with status 200, as of some gateways: then no task was accepted. Null: it is not. */
function errorIn(response: unknown): unknown {
  if (typeof response !== 'object' || response === null) return null;
  const { error, code, message } = response as Readonly<Record<string, unknown>>;
  if (error !== undefined && error !== null) return response;
  const isSaid = typeof code === 'string' && code !== '' && typeof message === 'string';
  return isSaid && !successCodes.test(code) ? response : null;
}
