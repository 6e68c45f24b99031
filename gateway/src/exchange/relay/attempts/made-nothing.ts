import type { AttemptFailure } from './outcome.ts';

/** Refusals of the request or its credential, and of an upstream that is too busy: it has not begun to work. */
const refusals: ReadonlySet<number> = new Set([401, 402, 403, 404, 429, 503, 529]);

/** Whether a failed attempt surely made nothing that costs money. */
export function madeNothing(failure: Pick<AttemptFailure, 'class' | 'status'>): boolean {
  if (failure.class === 'not-sent') return true;
  return failure.status !== null && refusals.has(failure.status);
}
