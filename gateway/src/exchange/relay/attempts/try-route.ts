import type { Route } from '#catalogue/index.ts';
import type { Admission, AttemptResult } from '#routing/index.ts';
import { errorOfFailure } from './error-of-failure.ts';
import type { AttemptFailure, AttemptOutcome } from './outcome.ts';
import { sendAttempt } from './send-attempt.ts';
import { maxTries, type Tries } from './tries.ts';

/**
 * One channel's try, sent once more when the connection was a stale one. What came of it is told to the channel's
 * health and to the conversation's affinity.
 * @returns null when the next channel may be tried.
 * @throws GatewayError when the fault is the client's own.
 */
export async function tryRoute(
  tries: Tries,
  route: Route,
  admission: Admission,
): Promise<Exclude<AttemptOutcome, AttemptFailure> | null> {
  const { parts, prepared } = tries;
  const { affinity, clock } = parts;
  const { conversation } = prepared;
  let result: AttemptResult = 'undecided';
  try {
    tries.sent += 1;
    // From the first byte on, not from the last: agents send the requests of a session side by side.
    if (conversation !== null) affinity.used(conversation, route, clock.monotonic());
    let outcome = await sendAttempt(tries, route, admission);
    if (outcome.kind === 'failed' && outcome.stale && tries.sent < maxTries) {
      tries.sent += 1;
      outcome = await sendAttempt(tries, route, admission);
    }
    const stateMissing = mayLackState(tries, route, outcome);
    if (!stateMissing) result = resultForHealth(outcome);
    if (outcome.kind !== 'failed') return outcome;
    if (outcome.final !== undefined) throw outcome.final;
    const { classification } = outcome;
    if (classification.kind === 'client') throw errorOfFailure(outcome, prepared.request);
    tries.failures.push(stateMissing ? 'state-missing' : classification.as);
    if (outcome.class === 'uncertain') tries.uncertain += 1;
    return null;
  } finally {
    parts.health.settle(admission, route, result, clock.monotonic());
  }
}

/**
 * Does the channel refuse what the request names (404, 403), rather than the model? Vendors say both with the same
 * status, and whoever names an id that is gone must not decide for others which models a channel has.
 */
function mayLackState({ state, prepared }: Tries, route: Route, outcome: AttemptOutcome): boolean {
  if (outcome.kind !== 'failed' || outcome.classification.kind !== 'failover') return false;
  if (outcome.classification.blame !== 'model' || prepared.request.named === undefined)
    return false;
  // To another protocol's upstream no id is passed on.
  return route.channel.protocols.includes(state.input.protocol);
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
