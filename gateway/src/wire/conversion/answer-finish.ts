import type { Finish } from '#canonical/index.ts';

/**
 * Upstreams contradict themselves: some stop at a call and say "stop", some name a call and make none. What was
 * delivered decides. A reason that says nothing about the text is an end.
 */
export function settledFinish(finish: Finish, calls: number): Finish {
  switch (finish.reason) {
    case 'end':
    case 'tool':
    case 'other':
      return calls > 0 ? { reason: 'tool' } : { reason: 'end' };
    default:
      return finish;
  }
}
