import type { Finish } from '#canonical/index.ts';

/**
 * Upstreams contradict themselves: some stop at a call and report "stop", others report a call and make none. The
 * delivered blocks decide. A reason that says nothing about the text counts as a normal end.
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
