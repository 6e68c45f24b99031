import { describe, expect, test } from 'vitest';
import { explore } from './model/explore.ts';
import { largeScenarios, mutations, scenarios } from './scenarios.ts';

/*
 * Every state that can be reached is visited: limits hold in each, and from each, when everything has come to rest,
 * whoever asks alone is admitted to all that is left.
 */

const isLarge = process.env.SLUICE_LEASE_SEARCH === 'large';
/** A search that does not end within this many states is no proof, and fails. */
const most = isLarge ? 10_000_000 : 40_000;

describe('in every state that can be reached', () => {
  test.each(Object.entries(scenarios))(
    'when %s, limits hold and no money is stuck',
    (_, bounds) => {
      expect(explore(bounds, undefined, most)).toMatchObject({ finding: null, isComplete: true });
    },
  );

  test.runIf(isLarge).each(Object.entries(largeScenarios))(
    'when %s, limits hold and no money is stuck',
    { timeout: 3_600_000 },
    (_, bounds) => {
      expect(explore(bounds, undefined, most)).toMatchObject({ finding: null, isComplete: true });
    },
  );
});

describe('every rule is needed', () => {
  test.each(mutations.map(([scenario, mutation]) => [mutation.name, scenario, mutation] as const))(
    'without %s, the search finds what goes wrong when %s',
    (_, scenario, mutation) => {
      const { finding } = explore(
        (scenarios[scenario] ?? largeScenarios[scenario])!,
        mutation,
        most,
      );
      expect(finding?.problem).toBeTypeOf('string');
      expect(finding?.path.length).toBeGreaterThan(0);
    },
  );
});
