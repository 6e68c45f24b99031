import { expect, test } from 'vitest';
import { isOnlySimulated } from './only-simulated.ts';

test.each([
  [[], false],
  [['simulator'], true],
  [['simulator', 'simulator'], true],
  [['simulator', 'openai'], false],
  [['openai'], false],
])('answers of channels of %j are all made up: %s', (providers, isSimulated) => {
  expect(isOnlySimulated(providers.map((provider) => ({ provider })))).toBe(isSimulated);
});
