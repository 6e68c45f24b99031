import type { Route } from '#catalogue/index.ts';
import type { ErrorName, GatewayError } from '#errors/index.ts';
import type { ChannelLease, AttemptResult } from '#routing/index.ts';
import type { Classification, Cure } from '#vendors/index.ts';
import type { SentRequest } from '../exchange/tried.ts';
import { madeNothing } from './made-nothing.ts';
import type { AttemptFailure, AttemptOutcome } from './outcome.ts';
import { sendAttempt } from './send-attempt.ts';
import { maxTries, type Rejection, type Tries } from './tries.ts';

/** What a client gets for a 400 of which only the status, or the name of a field, is known. */
const unexplained: ReadonlySet<ErrorName> = new Set([
  'upstream_rejected',
  'upstream_rejected_field',
]);

/**
 * Tries one channel, and once more if the connection was stale, or if the upstream has refused what can be edited. The
 * outcome is reported to the channel's health.
 * @returns null when the next channel may be tried.
 * @throws GatewayError when the client is to blame, ClientGone, BuildingDefect
 */
export async function tryRoute<Sent extends SentRequest, Outcome extends AttemptOutcome>(
  tries: Tries<Sent, Outcome>,
  route: Route,
  lease: ChannelLease,
): Promise<Exclude<Outcome, AttemptFailure> | null> {
  const { parts, sender } = tries;
  const { isCostly = false } = sender;
  let result: AttemptResult = 'undecided';
  try {
    tries.sent += 1;
    let outcome: AttemptOutcome = await sendAttempt(tries, route, lease);
    if (outcome.kind === 'failed' && outcome.stale && !isCostly && tries.sent < maxTries) {
      tries.sent += 1;
      outcome = await sendAttempt(tries, route, lease);
    }
    const cure = cureOf(outcome);
    // The refusal cost nothing, so the further request is not one of those that failover may send.
    if (cure !== undefined && !isCostly && (await sender.cure?.(route, cure)) === true) {
      tries.sent += 1;
      outcome = await sendAttempt(tries, route, lease);
      // A client that leaves proves nothing.
      if (resultForHealth(outcome) === 'answered') sender.cured?.(route);
    }
    if (outcome.kind !== 'failed') {
      result = resultForHealth(outcome);
      return outcome as Exclude<Outcome, AttemptFailure>;
    }
    const isStateMissing = sender.lacksState?.(route, outcome) === true;
    if (!isStateMissing) result = resultForHealth(outcome);
    const { classification } = outcome;
    if (outcome.final !== undefined) throw outcome.final;
    if (classification.kind === 'client') {
      tries.rejection = rejectionOf(tries, route, classification, sender.errorOf(outcome));
      return null;
    }
    if (isStateMissing) tries.failures.push('state-missing');
    else if (classification.blame === 'credential') tries.failures.push('credential-refused');
    else tries.failures.push(classification.as);
    if (outcome.class === 'uncertain') tries.uncertain += 1;
    if (isCostly && !madeNothing(outcome)) tries.isSpent = true;
    return null;
  } finally {
    parts.health.reportOutcome(lease, route, result, parts.clock.monotonic());
  }
}

/** @throws GatewayError when no other vendor is to be asked */
function rejectionOf<Sent extends SentRequest, Outcome extends AttemptOutcome>(
  { sender, rejection, sent, last }: Tries<Sent, Outcome>,
  route: Route,
  { error: name, isExplained = false }: Extract<Classification, { kind: 'client' }>,
  error: GatewayError,
): Rejection<Sent> {
  if (isExplained || !unexplained.has(name)) throw error;
  if (rejection !== null) return rejection;
  if (sender.isConverted?.(route) !== true) throw error;
  return { route, error, request: last, sent };
}

function cureOf(outcome: AttemptOutcome): Cure | undefined {
  if (outcome.kind !== 'failed' || outcome.final !== undefined) return undefined;
  const { classification } = outcome;
  return classification.kind === 'client' ? classification.cure : undefined;
}

/** What the end of an attempt says about the channel's health. */
function resultForHealth(outcome: AttemptOutcome): AttemptResult {
  switch (outcome.kind) {
    case 'complete':
      return 'answered';
    case 'failed': {
      const { classification, final } = outcome;
      return classification.kind === 'client' || final !== undefined ? 'undecided' : classification;
    }
    case 'disconnected':
      return outcome.shown ? 'answered' : 'undecided';
    case 'broken':
      // A response had begun and only took longer than the time limit, which does not show a sick channel.
      if (outcome.result === 'deadline') return 'undecided';
      return outcome.classification?.kind === 'failover' ? outcome.classification : 'undecided';
  }
}
