import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig, type OxlintOverride } from 'oxlint';

/** What every room may use, except rooms that stand before these or are pure. */
const anywhere = 'config errors observability';

/**
 * The districts of `gateway/src`, from the ground up, and their rooms with what each of them may use. A room uses rooms
 * of its own district and of those before it; any other import is an error (see
 * docs/decisions/0003-import-directions.md). `gateway/test/structure/directions.test.ts` proves that every line here is
 * enforced and that no room is missing.
 */
const table: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  base: {
    errors: '',
    canonical: '',
    vendors: 'canonical errors',
    config: 'canonical errors vendors',
    observability: 'canonical config errors vendors',
  },
  wire: {
    compression: '',
    estimation: 'canonical',
    json: 'errors',
    protocols: 'canonical json errors vendors',
    conversion: `canonical estimation json protocols vendors ${anywhere}`,
  },
  store: {
    database: `canonical ${anywhere}`,
    ledger: `canonical database ${anywhere}`,
    leases: `database ${anywhere}`,
    usage: `canonical database leases ledger ${anywhere}`,
    journal: `canonical database leases ledger usage ${anywhere}`,
  },
  access: {
    catalogue: `canonical database vendors ${anywhere}`,
    identity: `canonical catalogue database ledger ${anywhere}`,
    declaration: `canonical catalogue database identity vendors ${anywhere}`,
    administration: `canonical catalogue database declaration identity ledger ${anywhere}`,
  },
  money: {
    limits: `canonical leases ${anywhere}`,
    billing: `canonical catalogue database identity ledger limits usage ${anywhere}`,
  },
  exchange: {
    bodies: 'errors',
    upstream: `canonical compression protocols vendors ${anywhere}`,
    'upstream-state': `database ${anywhere}`,
    routing: `canonical catalogue vendors ${anywhere}`,
    'body-work': `canonical conversion estimation json protocols routing upstream ${anywhere}`,
    tasks: `billing canonical catalogue database identity leases ledger limits upstream usage vendors ${anywhere}`,
    results: `canonical catalogue database tasks upstream ${anywhere}`,
    relay: `billing bodies body-work canonical catalogue conversion estimation identity journal json limits protocols routing tasks upstream upstream-state usage vendors ${anywhere}`,
  },
  edge: {
    http: `bodies compression ${anywhere}`,
    endpoints: `billing bodies canonical catalogue http identity ledger limits protocols relay tasks usage ${anywhere}`,
    'console-api': `administration billing canonical catalogue database http identity journal ledger limits tasks usage vendors ${anywhere}`,
  },
  process: {
    nodes: `canonical database journal leases ${anywhere}`,
    startup: `administration canonical catalogue database declaration identity vendors ${anywhere}`,
    supervisor: `startup ${anywhere}`,
    app: `administration billing bodies body-work catalogue console-api conversion database endpoints estimation http identity journal leases ledger limits nodes protocols relay results routing startup tasks upstream upstream-state usage vendors ${anywhere}`,
    commands: `administration app billing bodies canonical catalogue console-api conversion database declaration http identity journal json ledger limits nodes protocols relay routing startup supervisor tasks upstream usage vendors ${anywhere}`,
  },
};

/** From the ground up. */
export const districts: readonly {
  readonly name: string;
  readonly rooms: readonly string[];
}[] = Object.entries(table).map(([name, rooms]) => ({ name, rooms: Object.keys(rooms) }));

/** What each room may use. */
export const directions: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.values(table).flatMap((rooms) =>
    Object.entries(rooms).map(([room, allowed]) => [room, allowed.split(' ').filter(Boolean)]),
  ),
);

/** Relative to `gateway/src`. @throws for an unknown room. */
export function placeOf(room: string): string {
  const district = districts.find(({ rooms }) => rooms.includes(room));
  if (district === undefined) throw new Error(`no such room: ${room}`);
  return `${district.name}/${room}`;
}

/** Wire formats; none imports another. */
export const protocolFolders =
  'chat responses messages generate-content embeddings images video-synthesis video-contents'.split(
    ' ',
  );

/** What every operation of the relay is built on; it knows none of them. The lists: what it may use of the others. */
export const sharedRelayParts: Readonly<Record<string, readonly string[]>> = {
  'ticker.ts': [],
  'exchange.ts': ['ticker.ts'],
  'operation.ts': ['exchange.ts'],
  'stream-sink.ts': ['exchange.ts'],
  overload: [],
  ending: ['exchange.ts'],
  admission: ['ending', 'exchange.ts', 'operation.ts'],
  attempts: ['admission', 'ending', 'exchange.ts', 'overload', 'ticker.ts'],
};

const relayEntries = readdirSync(new URL('gateway/src/exchange/relay', import.meta.url));

/** Packages that only some files may import; paths are globs below `gateway/src`. */
export const confinedPackages: readonly {
  readonly packages: readonly string[];
  readonly regex: string;
  readonly allowed: readonly string[];
}[] = [
  {
    packages: ['fastify', '@fastify/multipart'],
    regex: '^(fastify|@fastify/.+)$',
    allowed: ['edge/**', 'process/app/**'],
  },
  {
    packages: ['prom-client', '@opentelemetry/api'],
    regex: '^(prom-client|@opentelemetry/.+)$',
    allowed: ['base/observability/**'],
  },
  {
    packages: ['@redis/client'],
    regex: '^@redis/client(/.+)?$',
    allowed: ['money/limits/redis/**'],
  },
  // Its tables take 80 MB: only the tokenizer thread may load them.
  {
    packages: ['gpt-tokenizer'],
    regex: '^gpt-tokenizer(/.+)?$',
    allowed: ['wire/estimation/**'],
  },
  {
    packages: ['openid-client'],
    regex: '^openid-client(/.+)?$',
    allowed: ['edge/console-api/oidc/**'],
  },
  { packages: ['undici'], regex: '^undici(/.+)?$', allowed: ['exchange/upstream/**'] },
  {
    packages: ['kysely', 'pg', 'node:sqlite'],
    regex: '^(kysely|pg|node:sqlite)(/.+)?$',
    allowed: ['store/database/**', 'store/journal/**/*.worker.ts', '**/*.repository.ts'],
  },
];

interface Pattern {
  readonly regex: string;
  readonly message: string;
}

const rooms = Object.keys(directions);

const otherWorkspace = (name: string): Pattern => ({
  regex: `^(${name}(/|$)|(\\.\\./){2,}${name}/src/)`,
  message: `directions: nothing here may import the ${name} workspace`,
});

/** `gateway/importers` reads files of other programs: what it may use of the source, and the only file that uses it. */
export const importers = {
  may: 'canonical catalogue commands config declaration errors vendors'.split(' '),
  door: 'process/commands/table.ts',
};
const noImporters: Pattern = {
  regex: '^#importers/',
  message: `directions: only ${importers.door} may import the importers`,
};

function roomPatterns(room: string): Pattern[] {
  const allowed = directions[room] ?? [];
  const denied = rooms.filter((other) => other !== room && !allowed.includes(other));
  const patterns: Pattern[] = [];
  if (denied.length > 0) {
    patterns.push({
      regex: `^#(${denied.join('|')})/`,
      message: `directions: ${room} may import only ${allowed.join(', ') || 'nothing'}`,
    });
  }
  if (room === 'relay') {
    patterns.push({
      regex: '^#(protocols|vendors)/[a-z-]+/',
      message: 'directions: relay knows the interfaces Protocol and Vendor, never a concrete one',
    });
  }
  return patterns;
}

/** One override: every pattern that holds for these files, because a later override replaces an earlier one. */
function restrict(
  files: string,
  patterns: readonly Pattern[],
  mayImport: readonly string[],
): OxlintOverride {
  const confined = confinedPackages
    .filter(({ allowed }) => !allowed.some((glob) => mayImport.includes(glob)))
    .map(({ regex, allowed, packages }) => ({
      regex,
      message: `directions: ${packages.join(', ')} only in ${allowed.join(', ')}`,
    }));
  return {
    files: [`gateway/src/${files}`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            otherWorkspace('simulator'),
            otherWorkspace('gateway'),
            ...(files === importers.door ? [] : [noImporters]),
            ...confined,
            ...patterns,
          ],
        },
      ],
    },
  };
}

const directionOverrides: OxlintOverride[] = [
  restrict('*.{js,ts}', [], []),
  ...rooms.flatMap((room) => {
    const place = placeOf(room);
    const district = place.slice(0, place.indexOf('/'));
    const globs = [`${place}/**`, `${district}/**`];
    return [
      restrict(`${place}/**`, roomPatterns(room), globs),
      restrict(`${place}/**/*.repository.ts`, roomPatterns(room), [...globs, '**/*.repository.ts']),
    ];
  }),
  restrict('store/journal/**/*.worker.ts', roomPatterns('journal'), [
    'store/journal/**/*.worker.ts',
  ]),
  restrict('money/limits/redis/**', roomPatterns('limits'), ['money/limits/redis/**']),
  restrict('edge/console-api/oidc/**', roomPatterns('console-api'), [
    'edge/console-api/oidc/**',
    'edge/**',
  ]),
  ...protocolFolders.map((protocol) => {
    const others = protocolFolders.filter((other) => other !== protocol);
    const sibling: Pattern = {
      regex: `^((\\./)?(\\.\\./)+|#protocols/)(${others.join('|')})/`,
      message: 'directions: a protocol never imports another protocol',
    };
    return restrict(
      `wire/protocols/${protocol}/**`,
      [...roomPatterns('protocols'), sibling],
      ['wire/protocols/**'],
    );
  }),
  ...Object.entries(sharedRelayParts).map(([part, allowed]) => {
    const others = relayEntries.filter((entry) => entry !== part && !allowed.includes(entry));
    const isFile = part.endsWith('.ts');
    const operations: Pattern = {
      regex: `^${isFile ? '\\./' : '(\\./)?(\\.\\./)+'}(${others.join('|')})(/|$)`,
      message: `directions: relay/${part} knows no operation`,
    };
    return restrict(
      isFile ? `exchange/relay/${part}` : `exchange/relay/${part}/**`,
      [...roomPatterns('relay'), operations],
      ['exchange/relay/**', 'exchange/**'],
    );
  }),
  restrict(importers.door, roomPatterns('commands'), ['process/commands/**', 'process/**']),
  {
    files: ['gateway/importers/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: `^#(${rooms.filter((room) => !importers.may.includes(room)).join('|')})/`,
              message: `directions: the importers may import only ${importers.may.join(', ')}`,
            },
          ],
        },
      ],
    },
  },
  {
    files: ['simulator/**'],
    rules: { 'no-restricted-imports': ['error', { patterns: [otherWorkspace('gateway')] }] },
  },
  {
    files: ['gateway/**/*.test.ts', 'gateway/test/**', 'simulator/**/*.test.ts'],
    rules: { 'no-restricted-imports': 'off' },
  },
];

export default defineConfig({
  // By path, because this configuration may be used from elsewhere.
  jsPlugins: [fileURLToPath(new URL('lint/plugin.ts', import.meta.url))],
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'node', 'promise', 'vitest'],
  options: { typeAware: true, reportUnusedDisableDirectives: 'error' },
  categories: { correctness: 'error', suspicious: 'error' },
  env: { node: true },
  ignorePatterns: ['**/node_modules/**', 'data/**', 'console/dist/**', 'bench/results/**'],
  rules: {
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/only-throw-error': 'error',
    'typescript/switch-exhaustiveness-check': [
      'error',
      { considerDefaultExhaustiveForUnions: true },
    ],
    'import/no-cycle': 'error',
    eqeqeq: ['error', 'always', { null: 'ignore' }],
    'no-var': 'error',
    'prefer-const': 'error',
    // The guards narrow wire data by assertion after a check.
    'typescript/no-unsafe-type-assertion': 'off',
    // A type parameter used once names the result of a JSON reader.
    'typescript/no-unnecessary-type-parameters': 'off',
    // Our interfaces are written with method signatures and implemented as closures: nothing is unbound.
    'typescript/unbound-method': 'off',
    // `new URL(text)` and the like are called only to see whether they throw.
    'no-new': 'off',
    // The compiler knows when a switch over a union is complete.
    'typescript/consistent-return': 'off',
    'vitest/expect-expect': [
      'error',
      { assertFunctionNames: ['expect', 'expectTypeOf', 'fc.assert', 'assert*'] },
    ],
    'vitest/valid-expect': ['error', { maxArgs: 2 }],
    // Tables of cases state which of two expectations applies.
    'vitest/no-conditional-expect': 'off',
    // A worker's postMessage has no target origin.
    'unicorn/require-post-message-target-origin': 'off',
    // `import './x.ts'` for side effects is not used; reading a default export's members is (`pg.Pool`).
    'import/no-named-as-default-member': 'off',
    // A helper next to its only use reads better than one lifted to the top of the file.
    'unicorn/consistent-function-scoping': 'off',
    // Inner scopes may reuse short names such as `body` and `error`.
    'no-shadow': 'off',
    // Event-style callbacks in the hot path are deliberate.
    'promise/no-promise-in-callback': 'off',
    'promise/always-return': 'off',
    'unicorn/prefer-add-event-listener': 'off',
  },
  overrides: [
    {
      files: ['console/src/**'],
      plugins: ['react'],
      rules: {
        // No text becomes HTML: models, clients and upstreams chose much of it.
        'react/no-danger': 'error',
        // The build imports it.
        'react/react-in-jsx-scope': 'off',
        // What the React compiler needs, which is not used.
        'react/exhaustive-effect-dependencies': 'off',
        'react/purity': 'off',
        'react/refs': 'off',
        'react/set-state-in-effect': 'off',
      },
    },
    // Vite takes style sheets by such imports.
    { files: ['console/src/main.tsx'], rules: { 'import/no-unassigned-import': 'off' } },
    {
      files: ['gateway/{importers,src}/**'],
      rules: { 'no-console': 'error', 'node/no-process-env': 'error' },
    },
    {
      files: [
        'gateway/src/main.js',
        'gateway/src/process/commands/**',
        'gateway/src/base/config/**',
      ],
      rules: { 'no-console': 'off', 'node/no-process-env': 'off' },
    },
    {
      files: ['gateway/{importers,src}/**', 'simulator/src/**', 'lint/**'],
      rules: { 'sluice/linear-expression': 'error' },
    },
    {
      files: ['**/*.test.ts'],
      rules: { 'node/no-process-env': 'off', 'sluice/linear-expression': 'off' },
    },
    ...directionOverrides,
  ],
});
