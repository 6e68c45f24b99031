import type { Route } from '#catalogue/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { PassedOver, PassedOverReason } from '#usage/index.ts';
import { isSameVendor } from '#vendors/index.ts';
import { ClientGone } from '../exchange/client-gone.ts';
import type { SentRequest, Tried } from '../exchange/tried.ts';
import { asBuildingDefect, BuildingDefect } from './building-defect.ts';
import { clientDeadline, totalDeadline } from './deadlines.ts';
import { finalError } from './final-error.ts';
import type { AttemptFailure, AttemptOutcome } from './outcome.ts';
import type { Sender } from './sender.ts';
import { maxTries, type TriedExchange, type Tries, type TryingParts } from './tries.ts';
import { tryRoute } from './try-route.ts';

/** The client left before the next channel was asked. */
export interface NotAsked {
  readonly kind: 'not-asked';
}

/** No channel answered, or the fault is the client's own. */
export interface Unanswered {
  readonly kind: 'unanswered';
  /** The client's error. Anything but a GatewayError is a defect of the gateway. */
  readonly error: unknown;
}

/** Everything that is known when the attempts are over. */
export interface Attempted<Sent extends SentRequest, Outcome> extends Tried<Sent> {
  readonly outcome: Exclude<Outcome, AttemptFailure> | NotAsked | Unanswered;
}

const notAsked: NotAsked = Object.freeze({ kind: 'not-asked' });

/**
 * Tries channel after channel until one answers or the client has seen something. Never rejects.
 * @param routes in the order to try them.
 */
export async function attemptUntilAnswered<
  Sent extends SentRequest,
  Outcome extends AttemptOutcome,
>(
  parts: TryingParts,
  exchange: TriedExchange,
  routes: readonly Route[],
  sender: Sender<Sent, Outcome>,
): Promise<Attempted<Sent, Outcome>> {
  const tries: Tries<Sent, Outcome> = {
    parts,
    exchange,
    input: exchange.input,
    routes,
    sender,
    attempts: [],
    last: null,
    sent: 0,
    uncertain: 0,
    isSpent: false,
    refusing: [],
    refusal: null,
    failures: [],
    rejection: null,
    passed: [],
    defects: [],
  };
  let outcome;
  let thrown: unknown = null;
  try {
    outcome = await tryInTurn(tries);
  } catch (error) {
    thrown = error;
    outcome = endOf(error);
  }
  for (const defect of tries.defects) {
    // The one that the client's error stands for is reported with it.
    if (defect !== thrown) parts.onUnexpectedError(defect, exchange.input.id);
  }
  return { outcome, attempts: tries.attempts, sent: tries.last, passed: passedOver(tries) };
}

/** Those of the channels that were not asked, in their order; none if the client left before any was. */
function passedOver({
  routes,
  attempts,
  passed,
}: Pick<Tries<never, never>, 'routes' | 'attempts' | 'passed'>): readonly PassedOver[] {
  if (attempts.length + passed.length === 0 || (routes.length === 1 && passed.length === 0)) {
    return passed;
  }
  return routes
    .filter(({ channel }) => !attempts.some((attempt) => attempt.channel === channel.name))
    .map(
      ({ channel: { name } }) =>
        passed.find(({ channel }) => channel === name) ?? { channel: name, reason: 'not-reached' },
    );
}

function passOver(
  { passed }: Pick<Tries<never, never>, 'passed'>,
  { channel }: Route,
  reason: PassedOverReason,
): void {
  passed.push({ channel: channel.name, reason });
}

function endOf(error: unknown): NotAsked | Unanswered {
  return error instanceof ClientGone ? notAsked : { kind: 'unanswered', error };
}

/** @throws GatewayError, ClientGone */
async function tryInTurn<Sent extends SentRequest, Outcome extends AttemptOutcome>(
  tries: Tries<Sent, Outcome>,
): Promise<Exclude<Outcome, AttemptFailure> | NotAsked> {
  const { parts, input, routes, sender, failures } = tries;
  const { health, clock } = parts;
  const { client } = input;
  for (let at = 0; at < routes.length; at += 1) {
    if (tries.sent >= maxTries || tries.uncertain > 1 || tries.isSpent) break;
    if (client.disconnected) return notAsked;
    const route = routes[at]!;
    const { rejection } = tries;
    if (rejection !== null) {
      if (tries.sent > rejection.sent) break;
      if (isSameVendor(route.channel, rejection.route.channel)) continue;
    }
    if (tries.sent > 0 && !isInTime(tries, route)) {
      passOver(tries, route, 'no-time');
      continue;
    }
    let refusal: GatewayError | null = null;
    try {
      const preparing = sender.prepare(route);
      if (preparing !== null) {
        refusal = await preparing;
        // The conversion may have taken time, for example to fetch media.
        if (client.disconnected) return notAsked;
      }
    } catch (error) {
      passOverDefect(tries, route, asBuildingDefect(error));
      continue;
    }
    if (refusal !== null) {
      tries.refusing.push(route);
      tries.refusal ??= refusal;
      passOver(tries, route, 'unable');
      continue;
    }
    const mayFailOver = at + 1 < routes.length && tries.sent + 1 < maxTries;
    const now = clock.monotonic();
    const wanted = sender.credentialFor?.(route) ?? -1;
    const lease = health.lease(route, tries.sent > 0, mayFailOver, now, wanted);
    if (!lease.admitted) {
      if (lease.kind !== null) failures.push(lease.kind);
      passOver(tries, route, lease.reason);
      continue;
    }
    try {
      const outcome = await tryRoute(tries, route, lease);
      if (outcome !== null) return outcome;
    } catch (error) {
      passOverDefect(tries, route, error);
      tries.sent -= 1;
    }
  }

  const able = routes.filter((route) => !tries.refusing.includes(route));
  if (able.length === 0 && tries.refusal !== null) throw tries.refusal;
  if (able.length === 0 && tries.defects.length > 0) throw tries.defects[0];
  if (tries.sent === 0) {
    const last = health.admitAnyway(able, clock.monotonic());
    if (last !== null) {
      // Each failure is the reason why one channel was passed over. This channel is now asked after all, and its own
      // outcome replaces that reason.
      failures.splice(able.indexOf(last.route), 1);
      const outcome = await tryRoute(tries, last.route, last.lease);
      if (outcome !== null) return outcome;
    }
  }
  if (tries.rejection !== null) {
    tries.last = tries.rejection.request;
    throw tries.rejection.error;
  }
  // None of them answered, so the row names no channel. The records of the attempts say which were asked.
  if (tries.last !== null) tries.last = { ...tries.last, channel: null, upstreamModel: null };
  const now = clock.monotonic();
  const waits = able.map((route) => health.waitOf(route, now));
  throw finalError(failures, Math.min(...waits), sender.model, sender.stateError?.());
}

/** A defect in one attempt never keeps the next channel from being tried. @throws any other error */
function passOverDefect<Sent extends SentRequest, Outcome extends AttemptOutcome>(
  tries: Tries<Sent, Outcome>,
  route: Route,
  error: unknown,
): void {
  if (!(error instanceof BuildingDefect)) throw error;
  tries.defects.push(error.cause);
  tries.refusing.push(route);
  passOver(tries, route, 'unable');
}

/**
 * Is there enough time left for this channel's usual response time? Another try that cannot finish in time would be
 * wasted.
 */
function isInTime<Sent extends SentRequest, Outcome extends AttemptOutcome>(
  { parts: { health, clock, timeouts }, input, sender }: Tries<Sent, Outcome>,
  route: Route,
): boolean {
  const deadline = Math.min(clientDeadline(input), totalDeadline(input, route.channel, timeouts));
  return clock.monotonic() + health.usualTime(route, sender.kind) < deadline;
}
