import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

/*
 * A room's `index.ts` is its face; the rest is private to it. What other rooms may import besides stands here with its
 * reason.
 */

const source = path.resolve(import.meta.dirname, '../../src');

interface SideDoor {
  /** Who uses it: the beginning or the end of their paths. */
  readonly by: readonly string[];
  readonly why: string;
}

const sideDoors: Readonly<Record<string, SideDoor>> = {
  'catalogue/bundled.ts': {
    by: ['commands/command-config.ts', 'commands/served-patterns.ts'],
    why: 'the list alone: checking a file loads no database',
  },
  'catalogue/pattern-models.ts': {
    by: ['commands/served-patterns.ts'],
    why: 'the same',
  },
  'config/decimal.ts': {
    by: [
      'billing/',
      'catalogue/',
      'database/money.ts',
      'declaration/',
      'ledger/',
      'usage/usage-entry.ts',
    ],
    why: 'digits as whole numbers, by one rule for the file and the database, also in the thread that fills it and loads no reader of configuration',
  },
  'config/pattern.ts': {
    by: ['catalogue/', 'commands/', 'declaration/', 'upstream-state/'],
    why: 'what a star means, by one rule, without a reader of configuration',
  },
  'database/*.ts': {
    by: ['.repository.ts'],
    why: 'the tables, for the statements of the folders that own their rows',
  },
  'app/addresses.ts': {
    by: ['commands/start-supervisor.ts'],
    why: 'a supervisor tries the ports and serves nothing: it loads no server',
  },
  'importers/*.ts': {
    by: ['commands/table.ts'],
    why: 'commands that stand beside the source, with what they read of other programs',
  },
  'http/listen.ts': {
    by: ['app/addresses.ts'],
    why: 'the same',
  },
  'json/skip.ts': {
    by: ['protocols/messages/native/repairs/'],
    why: 'steps of the scan, for finding the places of edits in what was scanned',
  },
  'protocols/protocol.ts': {
    by: ['upstream/'],
    why: 'the interface alone: it needs no protocol to be loaded',
  },
  'upstream/event-stream.ts': {
    by: ['body-work/'],
    why: 'reads the events of a response that has arrived: a thread for large bodies calls nobody, and loads no client for it',
  },
  'supervisor/messages.ts': {
    by: ['commands/start.ts'],
    why: 'how a worker knows itself, before a supervisor is loaded or not',
  },
};

interface Reach {
  /** The file, from its room on. */
  readonly from: string;
  /** The file, from its room on. */
  readonly to: string;
}

/** Without the district: a room keeps its name where it moves. */
const fromRoom = (file: string): string => file.slice(file.indexOf('/') + 1);

interface Import {
  readonly file: string;
  readonly specifier: string;
}

const imports: readonly Import[] = globSync('**/*.ts', { cwd: source })
  .filter((file) => !file.endsWith('.test.ts'))
  .flatMap((file) =>
    Array.from(
      readFileSync(path.join(source, file), 'utf8').matchAll(/\b(?:from|import\() ?'([.#][^']+)'/g),
      ([, specifier = '']) => ({ file, specifier }),
    ),
  );

/** Imports from other rooms, except those of their `index.ts`. */
const reaches: readonly Reach[] = imports
  .filter(({ specifier }) => /^#[^/]+\/(?!index\.ts$)/.test(specifier))
  .map(({ file, specifier }) => ({ from: fromRoom(file), to: specifier.slice(1) }));

test('imports use a room’s name from outside, and relative paths within', () => {
  const place = (file: string): string => file.split('/').slice(0, 2).join('/');
  const wrong = imports.filter(({ file, specifier }) =>
    specifier.startsWith('#')
      ? specifier.startsWith(`#${place(file).split('/')[1]}/`)
      : place(path.posix.join(path.posix.dirname(file), specifier)) !== place(file) &&
        !specifier.endsWith('/package.json'),
  );
  expect(wrong).toEqual([]);
  expect(reaches.length).toBeGreaterThan(10);
});

const isUsed = (door: string, { by }: SideDoor, { from, to }: Reach): boolean =>
  path.posix.matchesGlob(to, door) &&
  by.some((part) => (part.startsWith('.') ? from.endsWith(part) : from.startsWith(part)));

test('other rooms use a room by its index.ts, or by a side door that has a reason', () => {
  const doors = Object.entries(sideDoors);
  const through = reaches.filter((reach) => doors.some(([to, door]) => isUsed(to, door, reach)));
  expect(reaches.filter((reach) => !through.includes(reach))).toEqual([]);
});

test('every side door is used', () => {
  const unused = Object.entries(sideDoors).flatMap(([to, door]) =>
    door.by
      .filter((user) => !reaches.some((reach) => isUsed(to, { ...door, by: [user] }, reach)))
      .map((user) => `${to} by ${user}`),
  );
  expect(unused).toEqual([]);
});
