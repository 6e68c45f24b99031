import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lossNames, responseLossNames } from '#canonical/index.ts';
import { catalogue } from '#errors/index.ts';
import { losses, repairs } from '../../../console/src/pages/requests/explain-change.ts';
import { errors } from '../../../console/src/pages/requests/explain-error.ts';

/* The console has its own words for what the gateway names: none may be missing, none left over. */

test('every loss has Chinese words', () => {
  expect(Object.keys(losses).toSorted()).toEqual(
    Object.keys({ ...lossNames, ...responseLossNames }).toSorted(),
  );
});

test('every documented repair has words', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/repairs.md'), 'utf8');
  const rules = [...page.matchAll(/^\| `(b\d+)` /gm)].map(([, rule]) => rule!);
  expect(rules.length).toBeGreaterThan(40);
  // A second table has those that every upstream gets.
  expect(Object.keys(repairs).toSorted()).toEqual([...new Set(rules), 'm1', 's1'].toSorted());
});

test('every error has words', () => {
  expect(Object.keys(errors).toSorted()).toEqual(Object.keys(catalogue).toSorted());
});
