import { expect, test } from 'vitest';
import { runsOfRequests, sizeOfSources } from './measures.ts';

/*
 * What one request runs through, and how many places know one protocol by name, does not grow unnoticed. A change that
 * makes less of it lowers the number here (`npm run size` prints the figures). One that needs more raises it, and says in
 * its commit what for.
 */
const ceilings = [
  { name: 'a warm plain chat', functions: 373, files: 118 },
  { name: 'a warm stream, messages to chat', functions: 612, files: 161 },
];
const mostStrangers = 6;

test('one request runs through no more functions and files', async () => {
  const runs = await runsOfRequests();
  const within = runs.map(({ name, functions, files }, at) => ({
    name,
    functions: Math.max(functions.length, ceilings[at]?.functions ?? 0),
    files: Math.max(files, ceilings[at]?.files ?? 0),
  }));
  expect(within, 'more runs for each request: is there a shorter way?').toEqual(ceilings);
});

test('no further file knows generate-content by name', () => {
  const { strangers } = sizeOfSources();
  expect(
    strangers.length,
    `a fact about the protocol belongs into its folder; by name it is known in ${strangers.join(', ')}`,
  ).toBeLessThanOrEqual(mostStrangers);
});
