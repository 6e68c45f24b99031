import { expect, it } from 'vitest';
import { refusalReason } from './refusal-reason.ts';

const works = {
  usable: true,
  writes: true,
  problem: null as Error | null,
  isOutdated: false,
  isAway: false,
  hasFailed: false,
  hasLeases: false,
};
const unreachable = new Error('connection refused');

const cases: readonly [string, Partial<typeof works>, 'version' | 'journal' | 'leases' | null][] = [
  ['everything works, and nothing is leased yet', {}, null],
  ['the journal takes no records', { usable: false }, 'journal'],
  [
    'neither the journal nor the database works',
    { usable: false, problem: unreachable },
    'journal',
  ],
  ['the database is unreachable, leases are left', { problem: unreachable, hasLeases: true }, null],
  ['the database is unreachable, no lease is left', { problem: unreachable }, 'leases'],
  ['the database leases nothing, leases are left', { isAway: true, hasLeases: true }, null],
  ['the database leases nothing, no lease is left', { isAway: true, hasFailed: true }, 'leases'],
  ['it refused a lease long ago', { hasFailed: true }, null],
  ['it refused a lease, and takes no writes since', { hasFailed: true, writes: false }, 'leases'],
  ['the database needs a newer program', { isOutdated: true, hasLeases: true }, 'version'],
  ['it takes no signs of life', { writes: false }, null],
];

it.each(cases)('%s', (_name, state, reason) => {
  const { usable, writes, problem, isOutdated, ...money } = { ...works, ...state };
  const sources = {
    journal: { usable },
    nodes: { writes },
    revisions: { problem, isOutdated },
    money,
  };
  expect(refusalReason(sources)).toBe(reason);
});
