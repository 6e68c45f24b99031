import type { Route } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import { GatewayError } from '#errors/index.ts';
import { UnreadableResponse, type VideoRequest } from '#protocols/index.ts';
import type { UpstreamRequest } from '#upstream/index.ts';
import { parseWithIds, type TaskSide, type Vendor, vendorOf } from '#vendors/index.ts';
import { errorOfFailure } from '../attempts/final-error.ts';
import type { RequestPlan } from '../attempts/request-plan.ts';
import type { ResponseReader } from '../attempts/response-reader.ts';
import { WholeResponse } from '../attempts/whole-response.ts';
import {
  allowedAnywhere,
  buildUpstreamRequest,
  forwardedHeaders,
} from '../attempts/upstream-request.ts';
import { type SentRequest, sentTo } from '../ending/record.ts';
import type { PreparedVideo, VideoInput, VideoParts } from './open-video.ts';

/**
 * Sends the request as it was read, with the model's name at the channel.
 * @param model as the client wrote it
 */
export function submitPlan(
  { timeouts }: Pick<VideoParts, 'timeouts'>,
  input: VideoInput,
  model: string,
  { request, routes }: PreparedVideo,
): RequestPlan<SentRequest, SubmittedTask, never> {
  return {
    routes,
    model,
    kind: 'buffered',
    isCostly: true,
    request(route, { secret }) {
      const vendor = vendorOf(route.channel);
      const side = vendor?.tasks?.[input.protocol];
      if (vendor === undefined || side === undefined) throw new GatewayError('internal_error');
      return {
        sentRequest: sentTo(route),
        upstream: submitRequest(input, request, { route, vendor, side, secret, timeouts }),
        receiver: new WholeResponse(readIdWith(side, { route, secret })),
        onLeave: 'finish',
      };
    },
    errorOf: (failure) => errorOfFailure(failure, null),
  };
}

/**
 * Stands for the client while a task is submitted. A client that leaves does not stop the submit: what an upstream
 * accepts is made, and has to be followed.
 */
export const patientClient = Object.freeze({
  disconnected: false,
  failedWith: null,
  fail: (): void => {},
  onDisconnect: (): void => {},
});

/** Where one submit goes. */
export interface SubmitTarget {
  readonly route: Route;
  readonly vendor: Vendor;
  readonly side: TaskSide;
  readonly secret: string | null;
  /** The gateway's settings; the channel's own take precedence. */
  readonly timeouts: Timeouts;
}

/** The whole request for one submit. It gets a separate connection, because a lost submit must not be repeated. */
export function submitRequest(
  { headers, protocol }: Pick<VideoInput, 'headers' | 'protocol'>,
  { body }: Pick<VideoRequest, 'body'>,
  { route, vendor, side, secret, timeouts }: SubmitTarget,
): UpstreamRequest {
  const upstreamRequest = buildUpstreamRequest({
    operation: 'generate',
    route,
    vendor,
    secret,
    protocol,
    body: bodyWith(body, route.upstreamModel),
    clientHeaders: headers,
    forwarded: forwardedHeaders(headers, allowedAnywhere),
    stream: false,
    timeouts,
  });
  return {
    ...upstreamRequest,
    headers: { ...upstreamRequest.headers, ...side.submitHeaders },
    ownConnection: true,
  };
}

/** In pieces, so that images in the body are not copied. */
function bodyWith(
  { before, after }: VideoRequest['body'],
  model: string,
): UpstreamRequest['body'] & {} {
  const name = Buffer.from(JSON.stringify(model));
  return {
    length: before.length + name.length + after.length,
    async *read() {
      yield before;
      yield name;
      yield after;
    },
  };
}

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
