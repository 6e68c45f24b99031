import { type Family, weigh } from '#estimation/family.ts';
import type { Comparison } from './token-estimates.ts';

/**
 * How good estimates are for requests that nobody looked at when their numbers were chosen: the numbers are fitted here
 * to some recordings, and measured on others. Rules for pictures and files are the vendors', and stay.
 */

type Numbers = Pick<Family, (typeof fitted)[number]>;
const fitted = ['said', 'defined', 'request', 'turn', 'call', 'tools', 'tool', 'format'] as const;

/** Round numbers to begin with, and what is a large step from each. */
export const start: Numbers = {
  said: 1,
  defined: 1,
  request: 5,
  turn: 5,
  call: 10,
  tools: 100,
  tool: 10,
  format: 0,
};
const steps: Numbers = {
  said: 0.2,
  defined: 0.2,
  request: 10,
  turn: 3,
  call: 8,
  tools: 100,
  tool: 10,
  format: 20,
};

/** Each request estimated with what was fitted to its family without this model at this vendor. */
export function heldOutByModel(all: readonly Comparison[]): Comparison[] {
  return eachGroup(
    all,
    ({ family }) => family,
    (own, others) => {
      const usual = fit(others, start);
      return eachGroup(
        own,
        ({ group }) => group,
        (group, rest) => estimated(group, fit(rest, usual)),
      );
    },
  );
}

/** Each request estimated with what was fitted to all other families. */
export function heldOutByFamily(all: readonly Comparison[]): Comparison[] {
  return eachGroup(
    all,
    ({ family }) => family,
    (own, others) => estimated(own, fit(others, start)),
  );
}

function eachGroup(
  all: readonly Comparison[],
  keyOf: (comparison: Comparison) => string,
  measure: (group: readonly Comparison[], others: readonly Comparison[]) => Comparison[],
): Comparison[] {
  return [...Map.groupBy(all, keyOf)].flatMap(([key, group]) =>
    measure(
      group,
      all.filter((each) => keyOf(each) !== key),
    ),
  );
}

function estimated(group: readonly Comparison[], numbers: Numbers): Comparison[] {
  return group.map((each) => ({ ...each, estimated: estimate(each, numbers) }));
}

function estimate({ outline, texts, row }: Comparison, numbers: Numbers): number {
  return weigh(outline, texts, { ...row, ...numbers });
}

/** The best numbers near the usual ones: each in turn is moved as long as that helps, by ever smaller steps. */
export function fit(comparisons: readonly Comparison[], usual: Numbers): Numbers {
  let best = usual;
  let least = lossOf(comparisons, best, usual);
  for (let size = 1; size > 1 / 32; size /= 2) {
    for (let moved = true; moved;) {
      moved = false;
      for (const name of fitted) {
        for (const sign of [1, -1]) {
          const value = best[name] + sign * size * steps[name];
          if (value < 0) continue;
          const tried = { ...best, [name]: value };
          const loss = lossOf(comparisons, tried, usual);
          if (loss >= least) continue;
          best = tried;
          least = loss;
          moved = true;
        }
      }
    }
  }
  return best;
}

/** Too small is three times as bad as too large; a number that few requests speak of stays near the usual one. */
function lossOf(comparisons: readonly Comparison[], numbers: Numbers, usual: Numbers): number {
  let loss = 0;
  for (const each of comparisons) {
    const error = Math.log(estimate(each, numbers) / each.reported);
    loss += error < 0 ? -3 * error : error;
  }
  for (const name of fitted) loss += 0.1 * ((numbers[name] - usual[name]) / steps[name]) ** 2;
  return loss;
}
