import type { ChannelTraffic } from '#usage/index.ts';
import type { verdicts } from '../contract/channels.ts';

export type Verdict = (typeof verdicts)[number];

/** Failures in a row after which a channel that has answered before counts as failing. */
const manyFailures = 3;
/** From this share of failures on, of at least so many attempts, a channel is unsteady. */
const unsteadyShare = 0.1;
/** Hours that count as lately: the one that has just begun says little alone. */
const lateHours = 2;

/**
 * What the attempts of all nodes say about a channel. Rows say it, so that every node says the same and a restart changes
 * nothing.
 */
export function verdictOf(traffic: ChannelTraffic | undefined): Verdict {
  if (traffic === undefined || traffic.attempts === 0) return 'unasked';
  const { failing, answeredAt, lastFailure, hours } = traffic;
  if (failing !== null) {
    // Nobody repairs a credential by waiting, and what has never answered does not work.
    const isCertain = answeredAt === null || lastFailure?.blame === 'credential';
    if (isCertain || failing.attempts >= manyFailures) return 'fails';
  }
  const late = hours.slice(-lateHours);
  const attempts = late.reduce((sum, hour) => sum + hour.attempts, 0);
  const failed = late.reduce((sum, hour) => sum + hour.failed, 0);
  const isUnsteady = failed >= manyFailures && failed >= unsteadyShare * attempts;
  return isUnsteady ? 'unsteady' : 'answers';
}
