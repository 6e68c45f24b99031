import { expect, test } from 'vitest';
import { holdsMoreThan } from './budget.ts';

test.each([
  ['[1,2,3]', 3],
  ['{"a":1,"b":[]}', 5],
  ['{"a":",:]}","b\\"":1}', 4],
  ['[[[[]]]]', 4],
  ['{"open":",,,,,,,,', 1],
  ['"only a text, with: [marks]"', 0],
])('%s contains %d', (json, count) => {
  const text = Buffer.from(json.padEnd(100));
  expect(holdsMoreThan(text, count)).toBe(false);
  if (count > 0) expect(holdsMoreThan(text, count - 1)).toBe(true);
});
