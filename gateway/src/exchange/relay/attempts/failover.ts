import type { Route } from '#catalogue/index.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { RelayParts } from '../parts.ts';
import type { Prepared } from '../prepare.ts';
import { ClientGone } from '../large-body.ts';
import { clientDeadline, totalDeadline } from './deadlines.ts';
import { finalError } from './final-error.ts';
import type { AttemptFailure, AttemptOutcome } from './outcome.ts';
import { RouteConversions } from './route-conversions.ts';
import { maxTries, type StreamSlot, type Tries } from './tries.ts';
import { tryRoute } from './try-route.ts';

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
  try {
    return await tryInTurn(parts, state, prepared, slot);
  } catch (error) {
    if (error instanceof ClientGone) return leftEarly;
    throw error;
  }
}

async function tryInTurn(
  parts: RelayParts,
  state: ExchangeState,
  prepared: Prepared,
  slot: StreamSlot | null,
): Promise<Exclude<AttemptOutcome, AttemptFailure>> {
  const { health, clock } = parts;
  const { routes } = prepared;
  const { client, protocol } = state.input;
  const tries: Tries = {
    parts,
    state,
    prepared,
    slot,
    conversions: null,
    sent: 0,
    uncertain: 0,
    failures: [],
  };

  for (let at = 0; at < routes.length; at += 1) {
    if (tries.sent >= maxTries || tries.uncertain > 1) break;
    if (client.left) return leftEarly;
    const route = routes[at]!;
    if (tries.sent > 0 && !isInTime(tries, route)) continue;
    if (!route.channel.protocols.includes(protocol)) {
      tries.conversions ??= new RouteConversions(parts, state, prepared);
      if (!(await tries.conversions.convert(route))) continue;
      // Converting may have fetched something meanwhile.
      if (client.left) return leftEarly;
    }
    const mayFailOver = at + 1 < routes.length && tries.sent + 1 < maxTries;
    const now = clock.monotonic();
    const wanted = credentialOfHome(tries, route);
    const admission = health.admit(route, tries.sent > 0, mayFailOver, now, wanted);
    if (!admission.admitted) {
      if (admission.kind !== null) tries.failures.push(admission.kind);
      continue;
    }
    const outcome = await tryRoute(tries, route, admission);
    if (outcome !== null) return outcome;
  }

  const { conversions } = tries;
  const able = routes.filter((route) => conversions?.isRefused(route) !== true);
  if (able.length === 0 && conversions?.refusal != null) throw conversions.refusal;
  if (tries.sent === 0) {
    const last = health.admitAnyway(able, clock.monotonic());
    if (last !== null) {
      // So far it was passed over, each channel for a reason of its own; now it speaks for itself.
      tries.failures.splice(able.indexOf(last.route), 1);
      const outcome = await tryRoute(tries, last.route, last.admission);
      if (outcome !== null) return outcome;
    }
  }
  // Whom the attempts asked stands in their records; nobody answered.
  state.channel = null;
  state.upstreamModel = null;
  const now = clock.monotonic();
  const waits = able.map((route) => health.waitOf(route, now));
  const { model, named } = prepared.request;
  throw finalError(tries.failures, Math.min(...waits), model, named);
}

/** The credential that what the request names was made with: another one may belong to another account. */
function credentialOfHome(
  { parts: { upstreamState }, prepared: { home } }: Tries,
  { channel }: Route,
): number {
  if (home === null || home.channel !== channel.id || channel.credentials.length < 2) return -1;
  return channel.credentials.findIndex(
    (secret) => upstreamState.digest('credential', secret) === home.credential,
  );
}

/** Is there still time when this channel usually answers? A second try that cannot end in an answer is only work. */
function isInTime({ parts, state, slot }: Tries, route: Route): boolean {
  const { health, clock, timeouts } = parts;
  const deadline = Math.min(
    clientDeadline(state.input),
    totalDeadline(state.input, route.channel, timeouts),
  );
  const usual = health.usualTime(route, slot === null ? 'buffered' : 'stream');
  return clock.monotonic() + usual < deadline;
}
