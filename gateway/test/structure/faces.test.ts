import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

/*
 * A folder's `index.ts` is its face; the rest is private to it. What other folders may import besides stands here with
 * its reason.
 */

const source = path.resolve(import.meta.dirname, '../../src');

interface SideDoor {
  /** Who uses it: the beginning or the end of their paths. */
  readonly by: readonly string[];
  readonly why: string;
}

const sideDoors: Readonly<Record<string, SideDoor>> = {
  'app/*.ts': { by: ['app.ts'], why: 'one thing, told in several files' },
  'billing/price-list/index.ts': {
    by: ['commands/import-prices.ts', 'other-gateways/'],
    why: 'prices that are read from files are no part of charging; the folder has a face of its own',
  },
  'catalogue/bundled.ts': {
    by: ['commands/workspace.ts'],
    why: 'the list alone: checking a file loads no database',
  },
  'config/decimal.ts': {
    by: ['billing/', 'catalogue/', 'ledger/'],
    why: 'digits as whole numbers, by one rule for the file and the database',
  },
  'database/*.ts': {
    by: ['.repository.ts'],
    why: 'the tables, for the statements of the folders that own their rows',
  },
  'http/listen.ts': {
    by: ['commands/start-supervisor.ts'],
    why: 'a supervisor tries the port and serves nothing: it loads no server',
  },
  'json/skip.ts': {
    by: ['protocols/messages/repairs/'],
    why: 'steps of the scan, for finding the places of edits in what was scanned',
  },
  'protocols/protocol.ts': {
    by: ['http/', 'upstream/'],
    why: 'the interface alone: neither needs any protocol to be loaded',
  },
  'upstream/event-stream.ts': {
    by: ['body-work/'],
    why: 'reads the events of an answer that has come: a thread for large bodies calls nobody, and loads no client for it',
  },
  'supervisor/messages.ts': {
    by: ['commands/start.ts'],
    why: 'how a worker knows itself, before a supervisor is loaded or not',
  },
};

interface Reach {
  readonly from: string;
  readonly to: string;
}

/** Imports from other folders, except those of their `index.ts`. */
const reaches: readonly Reach[] = globSync('**/*.ts', { cwd: source })
  .filter((file) => !/\.(?:test|arbitrary|grammar)\.ts$/.test(file))
  .flatMap((from) =>
    Array.from(
      readFileSync(path.join(source, from), 'utf8').matchAll(/\b(?:from|import\() ?'(\.[^']+)'/g),
      ([, specifier = '']) => ({ from, to: path.posix.join(path.posix.dirname(from), specifier) }),
    ),
  )
  .filter(({ from, to }) => {
    const [folder, file, ...deeper] = to.split('/');
    if (folder === from.split('/')[0] || file === undefined || folder === '..') return false;
    return file !== 'index.ts' || deeper.length > 0;
  });

const isUsed = (door: string, { by }: SideDoor, { from, to }: Reach): boolean =>
  path.posix.matchesGlob(to, door) &&
  by.some((part) => (part.startsWith('.') ? from.endsWith(part) : from.startsWith(part)));

test('other folders use a folder by its index.ts, or by a side door that has a reason', () => {
  const doors = Object.entries(sideDoors);
  const through = reaches.filter((reach) => doors.some(([to, door]) => isUsed(to, door, reach)));
  expect(reaches.filter((reach) => !through.includes(reach))).toEqual([]);
});

test('nobody keeps a side door that nobody uses', () => {
  const unused = Object.entries(sideDoors).flatMap(([to, door]) =>
    door.by
      .filter((user) => !reaches.some((reach) => isUsed(to, { ...door, by: [user] }, reach)))
      .map((user) => `${to} by ${user}`),
  );
  expect(unused).toEqual([]);
});
