import type { Route } from '#catalogue/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import { ClientGone } from '../exchange/client-gone.ts';
import type { SentRequest } from '../exchange/tried.ts';
import { recordAttempt } from './attempt-record.ts';
import { asBuildingDefect } from './building-defect.ts';
import type { AttemptOutcome } from './outcome.ts';
import type { ReadyRequest, RunningAttempt } from './sender.ts';
import type { Tries } from './tries.ts';

/** A running attempt and the time when it started. */
interface Started<Outcome> {
  readonly attempt: RunningAttempt<Outcome>;
  /** Unix milliseconds; `started` is the same in monotonic time. */
  readonly startedAt: number;
  readonly started: number;
}

/**
 * Sends one request, waits for the attempt's end, and records it for the usage row. This function waits as long as the
 * response takes, so it must not hold the request's text.
 * @throws GatewayError, ClientGone, BuildingDefect
 */
export async function sendAttempt<Sent extends SentRequest, Outcome extends AttemptOutcome>(
  tries: Tries<Sent, Outcome>,
  route: Route,
  lease: ChannelLease,
): Promise<Outcome> {
  const { parts, sender } = tries;
  const { clock, health } = parts;
  const starting = start(tries, route, lease);
  const { attempt, startedAt, started } = starting instanceof Promise ? await starting : starting;
  const outcome = await attempt.outcome;
  const durationMs = clock.monotonic() - started;
  if (sender.kind === 'buffered' && outcome.kind === 'complete') {
    health.took(lease, 'buffered', durationMs);
  }
  const { name } = route.channel;
  tries.attempts.push(
    recordAttempt(outcome, attempt.upstreamHeaders, { channel: name, startedAt, durationMs }),
  );
  return outcome;
}

/** A promise only where a thread builds the request. */
function start<Sent extends SentRequest, Outcome extends AttemptOutcome>(
  tries: Tries<Sent, Outcome>,
  route: Route,
  lease: ChannelLease,
): Started<Outcome> | Promise<Started<Outcome>> {
  const building = build(tries, route);
  if (!(building instanceof Promise)) return send(tries, route, lease, building);
  return building.then((ready) => {
    if (tries.input.client.disconnected) throw new ClientGone();
    return send(tries, route, lease, ready);
  });
}

/** @throws GatewayError, ClientGone, BuildingDefect; or rejects with one of them */
function build<Sent extends SentRequest, Outcome extends AttemptOutcome>(
  { sender }: Tries<Sent, Outcome>,
  route: Route,
): ReadyRequest<Sent, Outcome> | Promise<ReadyRequest<Sent, Outcome>> {
  const rethrow = (error: unknown): never => {
    throw asBuildingDefect(error);
  };
  try {
    const building = sender.build(route);
    return building instanceof Promise ? building.catch(rethrow) : building;
  } catch (error) {
    return rethrow(error);
  }
}

/** @throws GatewayError, ClientGone, BuildingDefect */
function send<Sent extends SentRequest, Outcome extends AttemptOutcome>(
  tries: Tries<Sent, Outcome>,
  route: Route,
  lease: ChannelLease,
  ready: ReadyRequest<Sent, Outcome>,
): Started<Outcome> {
  const { clock } = tries.parts;
  const startedAt = clock.now();
  const started = clock.monotonic();
  noteIntent(tries, route, startedAt);
  let attempt;
  try {
    attempt = ready.send(lease, started);
  } catch (error) {
    throw asBuildingDefect(error);
  }
  tries.last = ready.sent;
  return { attempt, startedAt, started };
}

/** From here on the upstream may bill this, even if nothing more is heard of it. */
function noteIntent<Sent extends SentRequest, Outcome extends AttemptOutcome>(
  { parts, exchange, sender, sent }: Tries<Sent, Outcome>,
  { channel }: Route,
  time: number,
): void {
  const { input, hold } = exchange;
  const { keyId, userId, teamId } = input.caller;
  parts.journal.begin({
    id: input.id,
    attempt: sent,
    time,
    keyId,
    userId,
    teamId,
    model: sender.model,
    channel: channel.name,
    held: hold?.amount ?? null,
  });
}
