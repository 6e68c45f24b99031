import { Violation, check, checkAge } from './checks.ts';
import { checkRest } from './rest.ts';
import { keyOf } from './state-key.ts';
import { steps } from './steps.ts';
import { copy, start, type Bounds, type Mutation, type World } from './world.ts';

/*
 * The protocol of leases as a set of states and everything that can happen in each of them. What nodes and the database
 * do is the real code; the model adds what surrounds it: requests, clocks, losses, kills.
 */

interface Finding {
  readonly problem: string;
  readonly path: readonly string[];
}

interface Explored {
  readonly states: number;
  readonly isComplete: boolean;
  readonly finding: Finding | null;
}

/** Visits every state that can be reached within the bounds, the nearest first. */
export function explore(
  bounds: Bounds,
  mutation: Mutation = { name: '' },
  most = Infinity,
): Explored {
  const seen = new Map<number, readonly [parent: number, label: string]>();
  const first = start(bounds);
  const firstKey = keyOf(first);
  seen.set(firstKey, [0, '']);
  let frontier: [number, World][] = [[firstKey, first]];
  const pathTo = (key: number, last: string): string[] => {
    const path = [last];
    for (let at = key; at !== firstKey;) {
      const [parent, label] = seen.get(at)!;
      path.push(label);
      at = parent;
    }
    return path.toReversed();
  };
  while (frontier.length > 0) {
    const next: [number, World][] = [];
    for (const [key, world] of frontier) {
      for (const [label, run] of steps(world, bounds, mutation)) {
        const after = copy(world);
        try {
          run(after);
          checkAge(world, after);
          const afterKey = keyOf(after);
          if (seen.has(afterKey)) continue;
          seen.set(afterKey, [key, label]);
          check(after, bounds);
          checkRest(after, bounds, mutation);
          next.push([afterKey, after]);
        } catch (error) {
          if (!(error instanceof Violation)) {
            throw new Error(`after ${pathTo(key, label).join('; ')}`, { cause: error });
          }
          const finding = { problem: error.message, path: pathTo(key, label) };
          return { states: seen.size, isComplete: false, finding };
        }
        if (seen.size >= most) return { states: seen.size, isComplete: false, finding: null };
      }
    }
    frontier = next;
  }
  return { states: seen.size, isComplete: true, finding: null };
}
