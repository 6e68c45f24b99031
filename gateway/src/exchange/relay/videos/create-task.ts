import { videoBound } from '#billing/index.ts';
import type { OpenTask } from '#tasks/index.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { userAgentOf } from '../exchange/record-of.ts';
import type { VideoInput } from './input.ts';
import type { VideoParts } from './parts.ts';
import type { PreparedVideo } from './prepared.ts';

/**
 * Makes the row of the task, which takes over the exchange's hold.
 * @throws GatewayError `unavailable` when there is no row; the hold is ended by then.
 */
export function createTask(
  parts: Pick<VideoParts, 'videos' | 'tasks' | 'clock'>,
  exchange: Exchange<VideoInput>,
  { request }: PreparedVideo,
): Promise<OpenTask> {
  const { input, model, hold } = exchange;
  const { id, arrivedAt, caller, protocol } = input;
  exchange.hold = null;
  return parts.tasks.create({
    id: parts.videos[protocol].newTaskId(parts.clock.now()),
    protocol,
    requestId: id,
    arrivedAt,
    caller,
    model,
    userAgent: userAgentOf(input),
    demand: request.demand,
    asked: request.asked,
    hold,
    bound: hold === null ? null : videoBound(hold.rates, request.demand)[0],
  });
}
