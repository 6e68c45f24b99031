import { fileURLToPath } from 'node:url';
import { defineConfig, type OxlintOverride } from 'oxlint';

/** What every folder may use, except those that stand before them or are pure. */
const anywhere = 'config errors observability';

/**
 * The direction of imports: each folder of `gateway/src` and the folders it may use. What is not listed is
 * an error (see docs/decisions/0003-import-directions.md). `gateway/test/structure/directions.test.ts`
 * proves that every line here is enforced and that no folder is missing.
 */
const table: Readonly<Record<string, string>> = {
  errors: '',
  canonical: '',
  compression: '',
  bodies: 'errors',
  estimation: 'canonical',
  json: 'errors',
  config: 'canonical errors',
  observability: 'config errors',
  protocols: 'canonical json errors',
  providers: `canonical protocols ${anywhere}`,
  upstream: `canonical compression protocols providers ${anywhere}`,
  database: `canonical ${anywhere}`,
  catalogue: `canonical database ${anywhere}`,
  ledger: `canonical database ${anywhere}`,
  access: `canonical catalogue database ledger ${anywhere}`,
  billing: `access canonical catalogue counting database journal ledger ${anywhere}`,
  counting: `canonical ${anywhere}`,
  journal: `canonical database ledger ${anywhere}`,
  usage: `canonical database ledger ${anywhere}`,
  nodes: `canonical database journal ${anywhere}`,
  declaration: `access canonical catalogue database ${anywhere}`,
  'other-gateways': `billing canonical catalogue declaration ${anywhere}`,
  startup: `access canonical catalogue database declaration providers ${anywhere}`,
  supervisor: `startup ${anywhere}`,
  routing: `canonical catalogue providers ${anywhere}`,
  tasks: `billing canonical database providers upstream ${anywhere}`,
  'upstream-state': `database ${anywhere}`,
  conversion: `canonical estimation json protocols ${anywhere}`,
  'body-work': `canonical conversion estimation protocols routing upstream ${anywhere}`,
  relay: `access billing bodies body-work canonical catalogue conversion counting estimation journal json protocols providers routing upstream upstream-state ${anywhere}`,
  http: `bodies canonical compression protocols ${anywhere}`,
  endpoints: `access billing bodies canonical catalogue counting http ledger protocols relay usage ${anywhere}`,
  'console-api': `access billing canonical catalogue counting database http journal ledger tasks usage ${anywhere}`,
  app: `access billing bodies body-work catalogue conversion counting database endpoints estimation http journal ledger nodes protocols relay routing startup upstream upstream-state ${anywhere}`,
  commands: `access billing bodies canonical catalogue console-api conversion counting database declaration http journal json ledger nodes other-gateways protocols providers relay routing startup supervisor tasks upstream usage ${anywhere}`,
};

export const directions: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(table).map(([folder, allowed]) => [folder, allowed.split(' ').filter(Boolean)]),
);

/** Wire formats: none knows another. */
export const protocolFolders =
  'chat responses messages generate-content images video-synthesis video-contents'.split(' ');

/** Packages that only some files may import; paths are globs below `gateway/src`. */
export const confinedPackages: readonly {
  readonly packages: readonly string[];
  readonly regex: string;
  readonly allowed: readonly string[];
}[] = [
  {
    packages: ['fastify', '@fastify/multipart'],
    regex: '^(fastify|@fastify/.+)$',
    allowed: ['http/**', 'endpoints/**', 'console-api/**', 'app/**'],
  },
  {
    packages: ['prom-client', '@opentelemetry/api'],
    regex: '^(prom-client|@opentelemetry/.+)$',
    allowed: ['observability/**'],
  },
  {
    packages: ['@redis/client'],
    regex: '^@redis/client(/.+)?$',
    allowed: ['counting/redis/**'],
  },
  // Its tables take 80 MB: only the thread that counts may load them.
  {
    packages: ['gpt-tokenizer'],
    regex: '^gpt-tokenizer(/.+)?$',
    allowed: ['estimation/**'],
  },
  { packages: ['undici'], regex: '^undici(/.+)?$', allowed: ['upstream/**'] },
  {
    packages: ['kysely', 'pg', 'node:sqlite'],
    regex: '^(kysely|pg|node:sqlite)(/.+)?$',
    allowed: ['database/**', 'journal/**/*.worker.ts', '**/*.repository.ts'],
  },
];

interface Pattern {
  readonly regex: string;
  readonly message: string;
}

const folders = Object.keys(directions);

const otherWorkspace = (name: string): Pattern => ({
  regex: `^(${name}(/|$)|(\\.\\./){2,}${name}/src/)`,
  message: `directions: nothing here may import the ${name} workspace`,
});

function folderPatterns(folder: string): Pattern[] {
  const allowed = directions[folder] ?? [];
  const denied = folders.filter((other) => other !== folder && !allowed.includes(other));
  const patterns: Pattern[] = [];
  if (denied.length > 0) {
    patterns.push({
      regex: `^(\\./)?(\\.\\./)+(${denied.join('|')})/`,
      message: `directions: ${folder} may import only ${allowed.join(', ') || 'nothing'}`,
    });
  }
  if (folder !== 'commands') {
    patterns.push({
      regex: '^(\\./)?(\\.\\./)+(app|main)\\.ts$',
      message: 'directions: only main and commands may import the composition root',
    });
  }
  if (folder === 'relay') {
    patterns.push({
      regex: '^(\\./)?(\\.\\./)+(protocols|providers)/[a-z-]+/',
      message: 'directions: relay knows the interfaces Protocol and Provider, never a concrete one',
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
  ...folders.flatMap((folder) => [
    restrict(`${folder}/**`, folderPatterns(folder), [`${folder}/**`]),
    restrict(`${folder}/**/*.repository.ts`, folderPatterns(folder), [
      `${folder}/**`,
      '**/*.repository.ts',
    ]),
  ]),
  restrict('journal/**/*.worker.ts', folderPatterns('journal'), ['journal/**/*.worker.ts']),
  restrict('counting/redis/**', folderPatterns('counting'), ['counting/redis/**']),
  ...protocolFolders.map((protocol) => {
    const others = protocolFolders.filter((other) => other !== protocol);
    const sibling: Pattern = {
      regex: `^(\\./)?(\\.\\./)+(${others.join('|')})/`,
      message: 'directions: a protocol never imports another protocol',
    };
    return restrict(`protocols/${protocol}/**`, [...folderPatterns('protocols'), sibling], []);
  }),
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
  // By its place, as this configuration may be used from elsewhere.
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
    // Narrowing what came off the wire by assertion after a check is how the guards are written.
    'typescript/no-unsafe-type-assertion': 'off',
    // A type parameter used once names what a reader of JSON gives back.
    'typescript/no-unnecessary-type-parameters': 'off',
    // Our interfaces are written with method signatures and made of closures: nothing is unbound.
    'typescript/unbound-method': 'off',
    // `new URL(text)` and its like are asked only whether they throw.
    'no-new': 'off',
    // The compiler knows when a switch over a union is complete.
    'typescript/consistent-return': 'off',
    'vitest/expect-expect': [
      'error',
      { assertFunctionNames: ['expect', 'expectTypeOf', 'fc.assert', 'assert*'] },
    ],
    'vitest/valid-expect': ['error', { maxArgs: 2 }],
    // Tables of cases say in the table which of two expectations holds.
    'vitest/no-conditional-expect': 'off',
    // A worker's postMessage has no target origin.
    'unicorn/require-post-message-target-origin': 'off',
    // `import './x.ts'` for its effects is not used; reading a default's members is (`pg.Pool`).
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
    { files: ['gateway/src/**'], rules: { 'no-console': 'error', 'node/no-process-env': 'error' } },
    {
      files: ['gateway/src/main.js', 'gateway/src/commands/**', 'gateway/src/config/**'],
      rules: { 'no-console': 'off', 'node/no-process-env': 'off' },
    },
    {
      files: ['gateway/src/**', 'simulator/src/**', 'lint/**'],
      rules: { 'sluice/linear-expression': 'error' },
    },
    {
      files: ['**/*.{test,arbitrary,grammar}.ts'],
      rules: { 'node/no-process-env': 'off', 'sluice/linear-expression': 'off' },
    },
    ...directionOverrides,
  ],
});
