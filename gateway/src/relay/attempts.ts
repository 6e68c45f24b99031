import type { Loss } from '../canonical/index.ts';
import type { Route } from '../catalogue/index.ts';
import type { ConvertedRequest } from '../conversion/index.ts';
import { GatewayError } from '../errors/index.ts';
import type { AnswerEcho, PatchedRequest } from '../protocols/index.ts';
import { findProvider } from '../providers/index.ts';
import type { Admission, AttemptResult, FailureKind } from '../routing/index.ts';
import { answerHeaders } from './answer-headers.ts';
import { recordAttempt } from './attempt-record.ts';
import { BufferedAttempt } from './buffered-attempt.ts';
import { clientDeadline } from './client-deadline.ts';
import { errorOfFailure } from './error-of-failure.ts';
import type { ExchangeState } from './exchange-state.ts';
import { finalError } from './final-error.ts';
import { nativeRequest, strippedLosses } from './native-request.ts';
import type { AttemptFailure, AttemptOutcome } from './outcome.ts';
import type { RelayParts } from './parts.ts';
import type { Prepared } from './prepare.ts';
import { RouteConversions } from './route-conversions.ts';
import { StreamAttempt } from './stream-attempt.ts';
import type { StreamSink } from './stream-sink.ts';
import { buildUpstreamRequest } from './upstream-request.ts';

const maxAttempts = 3;

/** The stream under way, so that the client's leaving can reach it. */
export interface StreamSlot {
  readonly sink: StreamSink;
  attempt: StreamAttempt | null;
}

/** A route whose turn has come. */
interface Way {
  readonly route: Route;
  readonly admission: Admission;
  /** Null when the channel speaks the client's protocol. */
  readonly converted: ConvertedRequest | null;
}

const noLosses: readonly Loss[] = Object.freeze([]);

/** What has come of a request so far. */
interface Tries {
  /** Requests sent upstream, the second one on a stale connection included. */
  sent: number;
  /** Of these, the ones whose fate is unknown. */
  uncertain: number;
  readonly failures: FailureKind[];
}

/**
 * Tries channel after channel until one answers or the client has seen something.
 * @param slot null for a non-streamed exchange.
 * @throws GatewayError when no channel answered, or when the fault is the client's own.
 */
export async function attemptUntilAnswered(
  parts: RelayParts,
  state: ExchangeState,
  prepared: Prepared,
  slot: StreamSlot | null,
): Promise<Exclude<AttemptOutcome, AttemptFailure>> {
  const { health, clock } = parts;
  const { routes } = prepared;
  const { protocol } = state.input;
  let conversions: RouteConversions | null = null;
  const tries: Tries = { sent: 0, uncertain: 0, failures: [] };

  for (let at = 0; at < routes.length; at += 1) {
    if (tries.sent >= maxAttempts || tries.uncertain > 1) break;
    if (state.input.client.left) return leftEarly;
    const route = routes[at]!;
    if (tries.sent > 0 && !isInTime(parts, state, route, slot)) continue;
    if (!route.channel.protocols.includes(protocol)) {
      conversions ??= new RouteConversions(parts, state, prepared);
      if (!(await conversions.convert(route))) continue;
      // Converting may have fetched something meanwhile.
      if (state.input.client.left) return leftEarly;
    }
    const mayFailOver = at + 1 < routes.length && tries.sent + 1 < maxAttempts;
    const admission = health.admit(route, tries.sent > 0, mayFailOver, clock.monotonic());
    if (!admission.admitted) {
      if (admission.kind !== null) tries.failures.push(admission.kind);
      continue;
    }
    const converted = conversions?.of(route) ?? null;
    const outcome = await attemptRoute(
      parts,
      state,
      prepared,
      { route, admission, converted },
      slot,
      tries,
    );
    if (outcome !== null) return outcome;
  }

  const able = routes.filter((route) => conversions?.isRefused(route) !== true);
  if (able.length === 0 && conversions?.refusal != null) throw conversions.refusal;
  if (tries.sent === 0) {
    const last = health.admitAnyway(able, clock.monotonic());
    if (last !== null) {
      // So far it was passed over, each channel for a reason of its own; now it speaks for itself.
      tries.failures.splice(able.indexOf(last.route), 1);
      const { route, admission } = last;
      const converted = conversions?.of(route) ?? null;
      const outcome = await attemptRoute(
        parts,
        state,
        prepared,
        { route, admission, converted },
        slot,
        tries,
      );
      if (outcome !== null) return outcome;
    }
  }
  // Whom the attempts asked stands in their records; nobody answered.
  state.channel = null;
  state.upstreamModel = null;
  const now = clock.monotonic();
  const waits = able.map((route) => health.waitOf(route, now));
  throw finalError(tries.failures, Math.min(...waits), prepared.request.model);
}

/** Does the client still wait when this channel usually answers? A second try that it cannot see is only work. */
function isInTime(
  { health, clock }: RelayParts,
  { input }: ExchangeState,
  route: Route,
  slot: StreamSlot | null,
): boolean {
  const deadline = clientDeadline(input);
  if (deadline === Number.POSITIVE_INFINITY) return true;
  const usual = health.usualTime(route, slot === null ? 'buffered' : 'stream');
  return clock.monotonic() + usual < deadline;
}

const leftEarly = Object.freeze({
  kind: 'left',
  asked: false,
  status: null,
  usage: null,
  outputBytes: 0,
  whole: false,
  shown: false,
});

/**
 * One channel's try, sent once more when the connection was a stale one.
 * @returns null when the next channel may be tried.
 * @throws GatewayError when the fault is the client's own.
 */
async function attemptRoute(
  parts: RelayParts,
  state: ExchangeState,
  prepared: Prepared,
  way: Way,
  slot: StreamSlot | null,
  tries: Tries,
): Promise<Exclude<AttemptOutcome, AttemptFailure> | null> {
  const { affinity, clock } = parts;
  const { route, admission, converted } = way;
  const { conversation } = prepared;
  let result: AttemptResult = 'undecided';
  try {
    tries.sent += 1;
    // From the first byte on, not from the last: agents send the requests of a session side by side.
    if (conversation !== null) affinity.used(conversation, route, clock.monotonic());
    let outcome = await attemptOnce(parts, state, prepared, way, slot);
    if (outcome.kind === 'failed' && outcome.stale && tries.sent < maxAttempts) {
      tries.sent += 1;
      outcome = await attemptOnce(parts, state, prepared, way, slot);
    }
    result = resultForHealth(outcome);
    // The id of a converted answer is ours; no upstream could continue it.
    if (outcome.kind === 'complete' && conversation !== null && converted === null) {
      affinity.answered(conversation, route, outcome.body, clock.monotonic());
    }
    if (outcome.kind !== 'failed') return outcome;
    if (outcome.final !== undefined) throw outcome.final;
    const { classification } = outcome;
    if (classification.kind === 'client') throw errorOfFailure(outcome, prepared.request);
    tries.failures.push(classification.as);
    if (outcome.class === 'uncertain') tries.uncertain += 1;
    return null;
  } finally {
    parts.health.settle(admission, route, result, clock.monotonic());
  }
}

/** What an attempt's end says about the channel. */
function resultForHealth(outcome: AttemptOutcome): AttemptResult {
  switch (outcome.kind) {
    case 'complete':
      return 'answered';
    case 'failed': {
      const { classification, final } = outcome;
      return classification.kind === 'client' || final !== undefined ? 'undecided' : classification;
    }
    case 'left':
      return outcome.shown ? 'answered' : 'undecided';
    case 'broken':
      // An answer that was merely longer than the time there is for one was an answer.
      if (outcome.result === 'deadline') return 'undecided';
      return outcome.classification?.kind === 'failover' ? outcome.classification : 'undecided';
  }
}

async function attemptOnce(
  parts: RelayParts,
  state: ExchangeState,
  prepared: Prepared,
  { route, admission, converted }: Way,
  slot: StreamSlot | null,
): Promise<AttemptOutcome> {
  const { input } = state;
  const { request, model } = prepared;
  const protocol = parts.protocols[input.protocol];
  const provider = findProvider(route.channel.provider);
  if (provider === undefined) throw new GatewayError('internal_error');
  const native = converted === null ? nativeRequest(protocol, request) : request;
  const patched =
    converted ??
    protocol.patchRequest(native, {
      upstreamModel: route.upstreamModel,
      maxOutputTokens: model.maxOutputTokens,
      headers: input.headers,
    });
  const startedAt = parts.clock.now();
  const started = parts.clock.monotonic();
  state.channel = route.channel.name;
  state.upstreamModel = route.upstreamModel;
  state.rewrites = patched.rewrites;
  state.answerLosses = converted?.answerLosses ?? null;
  state.losses = converted?.losses ?? (native === request ? noLosses : strippedLosses);

  const common = {
    upstream: parts.upstream,
    request: buildUpstreamRequest(
      input,
      route,
      provider,
      admission.secret,
      converted?.protocol ?? input.protocol,
      patched,
      request.stream,
      parts.timeouts,
    ),
    protocol: converted?.reader ?? protocol,
    provider,
    watch: parts.watch,
    deadline: input.startedAt + (route.channel.timeouts.total ?? parts.timeouts.total),
    clientDeadline: clientDeadline(input),
  };
  const attempt =
    slot === null
      ? new BufferedAttempt({
          ...common,
          client: input.client,
          drains: parts.drains,
          echo: echoOf(request.model, route, patched),
        })
      : startStream(parts, state, slot, {
          ...common,
          route,
          admission,
          patched,
          worksOn: request.worksOn ?? false,
        });
  const outcome = await attempt.outcome;
  if (slot !== null) slot.attempt = null;

  if (slot === null && outcome.kind === 'complete') {
    parts.health.took(admission, 'buffered', parts.clock.monotonic() - started);
  }
  state.attempts.push(
    recordAttempt(outcome, attempt.upstreamHeaders, {
      channel: route.channel.name,
      startedAt,
      durationMs: parts.clock.monotonic() - started,
    }),
  );
  return outcome;
}

function startStream(
  parts: RelayParts,
  state: ExchangeState,
  slot: StreamSlot,
  options: Omit<
    ConstructorParameters<typeof StreamAttempt>[0],
    'context' | 'sink' | 'drains' | 'headers' | 'monotonic' | 'keepAliveMs' | 'onFirstContent'
  > & {
    readonly route: Route;
    readonly admission: Admission;
    readonly patched: PatchedRequest;
    readonly worksOn: boolean;
  },
): StreamAttempt {
  const started = parts.clock.monotonic();
  const attempt = new StreamAttempt({
    ...options,
    context: {
      ...echoOf(state.model, options.route, options.patched),
      usageInjected: options.patched.usageInjected,
    },
    sink: slot.sink,
    drains: options.route.channel.billsAfterCancel || options.worksOn ? parts.drains : null,
    headers: answerHeaders(state.rewrites, state.losses),
    monotonic: parts.clock.monotonic,
    keepAliveMs: parts.timeouts.keepaliveComment,
    onFirstContent: () => {
      const now = parts.clock.monotonic();
      parts.health.begun(options.admission, options.route, now);
      parts.health.took(options.admission, 'stream', now - started);
      state.ttftMs ??= now - state.input.startedAt;
    },
  });
  slot.attempt = attempt;
  return attempt;
}

function echoOf(
  clientModel: string,
  { upstreamModel }: Route,
  { toolNames }: PatchedRequest,
): AnswerEcho {
  return { clientModel, upstreamModel, ...(toolNames !== undefined && { toolNames }) };
}
