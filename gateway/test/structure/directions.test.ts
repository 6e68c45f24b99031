import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  confinedPackages,
  directions,
  districts,
  importers,
  placeOf,
  protocolFolders,
  sharedRelayParts,
} from '../../../oxlint.config.ts';

/*
 * Lints a made-up tree with the real configuration. Every file of it imports every room and every confined
 * package, one per line; what the linter refuses must be exactly what the table does not allow.
 */

const repository = path.resolve(import.meta.dirname, '../../..');
const rooms = Object.keys(directions);
const face = (room: string): string => `#${room}/index.ts`;
const packages = confinedPackages.flatMap((confined) => confined.packages);

interface Probe {
  /** Below the fixture's root. */
  readonly file: string;
  readonly specifiers: readonly string[];
  /** Those of them that the linter has to refuse. */
  readonly forbidden: readonly string[];
}

function roomProbe(room: string, name: string): Probe {
  const others = rooms.filter((other) => other !== room);
  const allowed = directions[room] ?? [];
  const file = `${placeOf(room)}/${name}`;
  return {
    file: `gateway/src/${file}`,
    specifiers: [...others.map(face), face(room), ...packages],
    forbidden: [
      ...others.filter((other) => !allowed.includes(other)).map(face),
      ...packagesForbiddenIn(file),
    ],
  };
}

function packagesForbiddenIn(file: string): string[] {
  return confinedPackages
    .filter(({ allowed }) => !allowed.some((glob) => path.matchesGlob(file, glob)))
    .flatMap((confined) => confined.packages);
}

const protocolProbe = (protocol: string): Probe => {
  const others = protocolFolders.filter((other) => other !== protocol);
  const siblings = others.flatMap((other) => [
    `../../../${other}/codec/request/decode-request.ts`,
    `#protocols/${other}/codec/request/decode-request.ts`,
  ]);
  return {
    file: `gateway/src/wire/protocols/${protocol}/codec/request/decode-request.ts`,
    specifiers: [...siblings, '../../../protocol.ts', face('canonical'), face('config')],
    forbidden: [...siblings, face('config')],
  };
};

/** Of what all operations share: it imports no folder of an operation, nor what puts operations together. */
const sharedRelayProbe = ([part, allowed]: readonly [string, readonly string[]]): Probe => {
  const isFile = part.endsWith('.ts');
  const up = isFile ? './' : '../';
  const specifierOf = (other: string) => up + (other.endsWith('.ts') ? other : `${other}/parts.ts`);
  const fine = [...allowed.map(specifierOf), './parts.ts', face('routing')];
  const forbidden = [
    ...Object.keys(sharedRelayParts)
      .filter((other) => other !== part && !allowed.includes(other))
      .map(specifierOf),
    `${up}text/input.ts`,
    `${up}relay.ts`,
    face('http'),
  ];
  return {
    file: `gateway/src/exchange/relay/${isFile ? part : `${part}/shared.ts`}`,
    specifiers: [...fine, ...forbidden],
    forbidden,
  };
};

const rootProbe = (name: string): Probe => ({
  file: `gateway/src/${name}`,
  specifiers: [...rooms.map(face), ...packages],
  forbidden: packagesForbiddenIn(name),
});

const probes: readonly Probe[] = [
  ...rooms.map((room) => roomProbe(room, 'plain.ts')),
  ...rooms.map((room) => roomProbe(room, 'deeper/plain.ts')),
  ...rooms.map((room) => roomProbe(room, 'rows.repository.ts')),
  roomProbe('journal', 'writer.worker.ts'),
  roomProbe('relay', 'writer.worker.ts'),
  roomProbe('limits', 'redis/link.ts'),
  ...protocolFolders.map(protocolProbe),
  ...Object.entries(sharedRelayParts).map(sharedRelayProbe),
  rootProbe('main.js'),
  {
    file: 'gateway/src/exchange/relay/concrete.ts',
    specifiers: [
      face('protocols'),
      '#protocols/chat/index.ts',
      '#vendors/openai/index.ts',
      face('vendors'),
    ],
    forbidden: ['#protocols/chat/index.ts', '#vendors/openai/index.ts'],
  },
  {
    file: `gateway/src/${importers.door}`,
    specifiers: ['#importers/import-prices.ts', face('estimation')],
    forbidden: [face('estimation')],
  },
  {
    file: 'gateway/src/process/commands/start.ts',
    specifiers: ['#importers/import-prices.ts', face('app')],
    forbidden: ['#importers/import-prices.ts'],
  },
  {
    file: 'gateway/importers/prices/plain.ts',
    specifiers: rooms.map(face),
    forbidden: rooms.filter((room) => !importers.may.includes(room)).map(face),
  },
  {
    file: 'gateway/src/process/commands/simulate.ts',
    specifiers: ['simulator', '../../../../simulator/src/index.ts', face('config')],
    forbidden: ['simulator', '../../../../simulator/src/index.ts'],
  },
  {
    file: 'simulator/src/chat/answer.ts',
    specifiers: [
      'gateway',
      '../../../gateway/src/wire/protocols/index.ts',
      '../index.ts',
      'node:http',
    ],
    forbidden: ['gateway', '../../../gateway/src/wire/protocols/index.ts'],
  },
  {
    file: 'gateway/src/exchange/relay/relay.test.ts',
    specifiers: [face('app'), face('usage'), 'undici', '../../../../simulator/src/index.ts'],
    forbidden: [],
  },
];

interface Diagnostic {
  readonly code: string;
  readonly help: string | undefined;
  readonly filename: string;
  readonly labels: readonly { readonly span: { readonly line: number } }[];
}

let fixture: string;
let diagnostics: readonly Diagnostic[];

beforeAll(() => {
  fixture = mkdtempSync(path.join(tmpdir(), 'sluice-directions-'));
  const config = path.join(repository, 'oxlint.config.ts');
  write('oxlint.config.ts', `export { default } from ${JSON.stringify(config)};\n`);
  write('package.json', '{ "type": "module" }\n');
  for (const { file, specifiers } of probes) {
    write(file, specifiers.map((name, at) => `export * as n${at} from '${name}';\n`).join(''));
  }
  const oxlint = path.join(repository, 'node_modules/.bin/oxlint');
  const run = spawnSync(oxlint, ['--format', 'json', '-A', 'all', 'gateway', 'simulator'], {
    cwd: fixture,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (run.error) throw run.error;
  const report = JSON.parse(run.stdout) as { readonly diagnostics: readonly Diagnostic[] };
  diagnostics = report.diagnostics.filter(({ code }) => code === 'eslint(no-restricted-imports)');
});

afterAll(() => rmSync(fixture, { recursive: true, force: true }));

function write(file: string, text: string): void {
  const target = path.join(fixture, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
}

describe('the direction of imports', () => {
  test('is in the table for every room of the source', () => {
    const source = path.join(repository, 'gateway/src');
    const foldersOf = (folder: string): string[] =>
      readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name);
    expect(foldersOf(source).toSorted()).toEqual(districts.map(({ name }) => name).toSorted());
    const present = districts.flatMap(({ name }) =>
      foldersOf(path.join(source, name)).map((room) => `${name}/${room}`),
    );
    const known = rooms.map(placeOf);
    expect(present.filter((place) => !known.includes(place))).toEqual([]);
  });

  test('has a subpath import for every room, at the room’s place', () => {
    const manifest = JSON.parse(
      readFileSync(path.join(repository, 'gateway/package.json'), 'utf8'),
    ) as { readonly imports: Readonly<Record<string, string>> };
    const present = rooms.filter((room) =>
      existsSync(path.join(repository, 'gateway/src', placeOf(room))),
    );
    expect(manifest.imports).toEqual({
      ...Object.fromEntries(present.map((room) => [`#${room}/*`, `./src/${placeOf(room)}/*`])),
      '#importers/*': './importers/*',
      '#test/*': './test/*',
    });
  });

  test('names only rooms that have a line of their own', () => {
    expect(
      Object.values(directions)
        .flat()
        .filter((name) => !directions[name]),
    ).toEqual([]);
  });

  test('never leads up to another district', () => {
    const floorOf = (room: string): number =>
      districts.findIndex(({ rooms: those }) => those.includes(room));
    const upward = rooms.flatMap((room) =>
      (directions[room] ?? [])
        .filter((other) => floorOf(other) > floorOf(room))
        .map((other) => `${room} uses ${other}`),
    );
    expect(upward).toEqual([]);
  });

  test('never forms a cycle', () => {
    const reachable = (from: string, seen = new Set<string>()): Set<string> => {
      for (const to of directions[from] ?? []) {
        if (!seen.has(to)) reachable(to, seen.add(to));
      }
      return seen;
    };
    expect(rooms.filter((room) => reachable(room).has(room))).toEqual([]);
  });

  test.each(probes)('is enforced in $file', ({ file, specifiers, forbidden }) => {
    const found = diagnostics.filter(({ filename }) => filename === file);
    const refused = found.map(({ labels }) => specifiers[(labels[0]?.span.line ?? 0) - 1] ?? '?');
    expect(refused.toSorted()).toEqual(forbidden.toSorted());
    for (const { help } of found) expect(help).toMatch(/^directions: /);
  });
});
