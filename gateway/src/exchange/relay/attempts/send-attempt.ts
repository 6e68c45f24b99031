import type { Route } from '#catalogue/index.ts';
import type { ConvertedRequest } from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { AnswerEcho, PatchedRequest, Protocol } from '#protocols/index.ts';
import { type Provider, vendorOf } from '#vendors/index.ts';
import type { Admission } from '#routing/index.ts';
import type { UpstreamRequest } from '#upstream/index.ts';
import { answerHeaders } from '../answer-headers.ts';
import { LargeAnswers } from '../large-answer.ts';
import { ClientGone } from '../large-body.ts';
import { forgetText } from '../prepare.ts';
import { createTakeGiven } from '../state/given-names.ts';
import { StreamAttempt } from '../streams/stream-attempt.ts';
import { recordAttempt } from './attempt-record.ts';
import { BufferedAttempt } from './buffered-attempt.ts';
import { clientDeadline, totalDeadline } from './deadlines.ts';
import type { AttemptOutcome } from './outcome.ts';
import type { StreamSlot, Tries } from './tries.ts';
import { largeRequestFor, requestFor, type RouteRequest } from './route-request.ts';
import { buildUpstreamRequest } from './upstream-request.ts';

/** One request to one upstream, ready to be sent. */
interface Sending {
  readonly route: Route;
  readonly admission: Admission;
  readonly provider: Provider;
  /** Null when the channel speaks the client's protocol. */
  readonly converted: ConvertedRequest | null;
  readonly patched: PatchedRequest;
  /** The client's betas, when not all of them pass; null: they do. */
  readonly betas: string | null;
  /** Monotonic time. */
  readonly started: number;
}

/**
 * Sends one request and waits for its end, which becomes an entry of the usage row. What waits here, as long as the
 * answer lasts, holds nothing of the request's text.
 */
export async function sendAttempt(
  tries: Tries,
  route: Route,
  admission: Admission,
): Promise<AttemptOutcome> {
  const { parts, state, slot } = tries;
  const { clock, health } = parts;
  const patched = prepareLarge(tries, route);
  const large = patched === null ? null : await patched;
  if (large !== null && state.input.client.left) throw new ClientGone();
  const startedAt = clock.now();
  const started = clock.monotonic();
  const attempt = startAttempt(tries, route, admission, large, started);
  const outcome = await attempt.outcome;
  if (slot !== null) slot.attempt = null;
  if (slot === null && outcome.kind === 'complete') {
    health.took(admission, 'buffered', clock.monotonic() - started);
  }
  state.attempts.push(
    recordAttempt(outcome, attempt.upstreamHeaders, {
      channel: route.channel.name,
      startedAt,
      durationMs: clock.monotonic() - started,
    }),
  );
  return outcome;
}

/** Null for what is made where it is: a converted request, which is there already, and a small one. */
function prepareLarge(
  { state, prepared, conversions }: Tries,
  route: Route,
): Promise<RouteRequest> | null {
  const { large } = prepared;
  if (!large?.isRead || conversions?.of(route)) return null;
  return largeRequestFor(state, prepared, large, route);
}

function startAttempt(
  tries: Tries,
  route: Route,
  admission: Admission,
  large: RouteRequest | null,
  started: number,
): BufferedAttempt | StreamAttempt {
  const { parts, state, prepared, slot } = tries;
  const provider = vendorOf(route.channel);
  if (provider === undefined) throw new GatewayError('internal_error');
  const converted = tries.conversions?.of(route) ?? null;
  const { patched, betas } = large ?? requestFor(parts, state, prepared, route, converted);
  const sending: Sending = { route, admission, provider, converted, patched, betas, started };
  return slot === null ? startBuffered(tries, sending) : startStream(tries, sending, slot);
}

function startBuffered(tries: Tries, sending: Sending): BufferedAttempt {
  const { parts, state, prepared } = tries;
  return new BufferedAttempt(upstreamRequest(tries, sending), {
    ...commonOptions(tries, sending),
    client: state.input.client,
    drains: parts.drains,
    echo: echoOf(prepared.request.model, sending),
  });
}

function startStream(tries: Tries, sending: Sending, slot: StreamSlot): StreamAttempt {
  const { parts, state, prepared } = tries;
  const { route, admission, patched, started } = sending;
  const readsOn =
    route.channel.billsAfterCancel || prepared.request.continuesAfterDisconnect === true;
  slot.attempt = new StreamAttempt(upstreamRequest(tries, sending), {
    ...commonOptions(tries, sending),
    context: {
      ...echoOf(prepared.request.model, sending),
      usageInjected: patched.usageInjected,
      searches: prepared.request.webSearches !== undefined,
    },
    sink: slot.sink,
    drains: readsOn ? parts.drains : null,
    headers: answerHeaders(state.rewrites, state.losses),
    monotonic: parts.clock.monotonic,
    keepAliveMs: parts.timeouts.keepaliveComment,
    onFirstContent: () => {
      const now = parts.clock.monotonic();
      parts.health.begun(admission, route, now);
      parts.health.took(admission, 'stream', now - started);
      state.ttftMs ??= now - state.input.startedAt;
    },
    onShown: () => {
      tries.conversions?.forget();
      forgetText(state, prepared);
    },
  });
  return slot.attempt;
}

function upstreamRequest(
  { parts, state, prepared }: Tries,
  { route, provider, admission, converted, patched, betas }: Sending,
): UpstreamRequest {
  return buildUpstreamRequest({
    input: state.input,
    route,
    provider,
    secret: admission.secret,
    protocol: converted?.protocol ?? state.input.protocol,
    patched,
    betas,
    stream: prepared.request.stream,
    timeouts: parts.timeouts,
  });
}

function commonOptions({ parts, state, prepared }: Tries, sending: Sending) {
  const { route, admission, provider, converted } = sending;
  const { input } = state;
  const { bodies, protocols } = parts;
  const upstream = converted?.protocol ?? input.protocol;
  const echo = echoOf(prepared.request.model, sending);
  const { keyId } = input.caller;
  const reader: Pick<Protocol, 'readResponse' | 'createStreamTap'> =
    converted?.reader ?? protocols[upstream];
  return {
    upstream: parts.upstream,
    protocol: reader,
    wire: protocols[upstream],
    large: new LargeAnswers({ bodies, keyId, upstream, echo, converted }),
    provider,
    // The ids of a converted answer are ours; no upstream knows them.
    takeGiven:
      converted === null ? createTakeGiven(parts, state, prepared, route, admission.secret) : null,
    watch: parts.watch,
    deadline: totalDeadline(input, route.channel, parts.timeouts),
    clientDeadline: clientDeadline(input),
    onDefect: (error: unknown) => parts.onUnexpectedError(error, input.id),
  };
}

function echoOf(clientModel: string, { route, patched }: Sending): AnswerEcho {
  const { upstreamModel } = route;
  const { toolNames } = patched;
  return { clientModel, upstreamModel, ...(toolNames !== undefined && { toolNames }) };
}
