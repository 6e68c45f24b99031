import { videoBound } from '#billing/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { OpenTask } from '#tasks/index.ts';
import type { AttemptRecord } from '#usage/index.ts';
import { Failover } from '../attempts/failover.ts';
import { type Attempted, isError } from '../attempts/outcome.ts';
import { type Exchange, writeJson } from '../exchange.ts';
import { candidatesFor } from '../admission/find-model.ts';
import {
  asGatewayError,
  finishDisconnected,
  finishFailed,
  reportExchange,
} from '../ending/finish.ts';
import type { Operation } from '../operation.ts';
import {
  type Ending,
  nothingTried,
  nothingUsed,
  responseHeaders,
  type SentRequest,
  userAgentOf,
} from '../ending/record.ts';
import { checkAudio } from './check-audio.ts';
import {
  type CheckedVideo,
  openVideo,
  type PreparedVideo,
  type VideoInput,
  type VideoParts,
} from './open-video.ts';
import { patientClient, submitPlan, type SubmittedTask } from './submit-plan.ts';

/** Submits tasks that make videos. Clients then poll a task by its id. */
export const videoOperation: Operation<VideoInput, CheckedVideo, PreparedVideo, VideoParts> = {
  modelType: 'video',
  isFree: false,
  mayStream: false,
  // A task may last a day. All that is left would be out of its owner's reach for as long.
  holdsAll: true,
  open: openVideo,
  authorize({ checksAudio, fetchMedia }, { input }, checkedVideo) {
    const { audioUrl } = checkedVideo.request;
    if (audioUrl === null || !checksAudio) return null;
    return checkAudio(fetchMedia, audioUrl, input.caller.keyId).then(() => checkedVideo);
  },
  bound: (_exchange, { request }, rates) => videoBound(rates, request.demand),
  prepare: (parts, { input }, checkedVideo) => ({
    request: checkedVideo.request,
    routes: candidatesFor(parts, input, checkedVideo),
  }),
  answer: answerVideo,
};

type Submit = Attempted<SentRequest, SubmittedTask, never>;

const noBody = Buffer.alloc(0);

/** The task's row says that the request is about to be sent, so the journal need not. */
const rowIsIntent = Object.freeze({ begin: () => {} });

/**
 * Makes the task, submits it once, stores what the upstream calls it, and tells the client its id. From the first of
 * these steps on, the task has the hold and the usage row, and it continues even if its client leaves.
 * @throws GatewayError
 */
export async function answerVideo(
  parts: VideoParts,
  exchange: Exchange<VideoInput>,
  preparedVideo: PreparedVideo,
): Promise<void> {
  const { input, model } = exchange;
  // The prepared request has the bytes. Of megabytes no digest is made for the log.
  input.body = noBody;
  if (input.client.disconnected) {
    return finishDisconnected(parts, exchange, nothingUsed, nothingTried);
  }
  const task = await begin(parts, exchange, preparedVideo);
  const submitTries = await new Failover(
    { ...parts, journal: rowIsIntent },
    { input: { ...input, client: patientClient }, hold: null },
    submitPlan(parts, input, model, preparedVideo),
  ).run();
  const error = await settle(parts, exchange, task, submitTries);
  reportExchange(parts, exchange, endingOf(error, submitTries));
  if (error !== null) throw error;
  const body = parts.videos[input.protocol].encodeAccepted(task.id, input.id);
  writeJson(input.client, body, responseHeaders(submitTries.sentRequest));
}

/** @throws GatewayError when there is no task; nothing is held by then. */
async function begin(
  parts: VideoParts,
  exchange: Exchange<VideoInput>,
  preparedVideo: PreparedVideo,
): Promise<OpenTask> {
  try {
    return await createTask(parts, exchange, preparedVideo);
  } catch (error) {
    const failure = asGatewayError(parts, exchange.input, error);
    await finishFailed(parts, exchange, failure, nothingTried);
    throw failure;
  }
}

/** Ends the submit in the task's row. Resolves to the client's error; null: an upstream has accepted the task. */
async function settle(
  parts: VideoParts,
  { input }: Exchange<VideoInput>,
  task: OpenTask,
  { outcome, attempts }: Submit,
): Promise<GatewayError | null> {
  const { tasks } = parts;
  try {
    if (outcome.kind === 'complete') {
      const { upstreamId, route, secret } = outcome.response;
      const { channel, upstreamModel } = route;
      await tasks.accept(task, { upstreamId, channel, upstreamModel, secret, attempts });
      return null;
    }
    const thrownError =
      outcome.kind === 'unanswered' ? outcome.error : new GatewayError('unavailable');
    const error = asGatewayError(parts, input, thrownError);
    const judgedAttempts = attempts.map(asUncertain);
    const isUncertain = judgedAttempts.some((attempt) => attempt.class === 'uncertain');
    await tasks.refuse(task, { error, attempts: judgedAttempts, isUncertain });
    return error;
  } catch (error) {
    return asGatewayError(parts, input, error);
  }
}

/** Statuses of proxies that got no usable response from the server behind them (RFC 9110, 15.6.5; Cloudflare). */
const unansweredStatuses: ReadonlySet<number> = new Set([504, 520, 524]);

/** An upstream that began a response and named no id may have accepted the task as well. */
function asUncertain(attempt: AttemptRecord): AttemptRecord {
  const { status } = attempt;
  const isUnknown = status !== null && (!isError(status) || unansweredStatuses.has(status));
  return isUnknown ? { ...attempt, class: 'uncertain' } : attempt;
}

function endingOf(error: GatewayError | null, submit: Submit): Ending {
  const end = { error, measuredUsage: nothingUsed, triedRequests: submit };
  return error === null
    ? { ...end, outcome: 'completed', status: 200 }
    : { ...end, outcome: 'failed', status: error.entry.status };
}

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
    requestMembers: request.requestMembers,
    hold,
    bound: hold === null ? null : videoBound(hold.rates, request.demand)[0],
  });
}
