import { defineConfig } from 'vitest/config';

/** Set by the continuous integration run: where the machine-readable report goes. */
const report = process.env.SLUICE_TEST_REPORT;

/** These start nothing that outlives a test, so many files share a process. */
const pure = [
  'gateway/src/**/*.test.ts',
  'gateway/test/{config,conversion,property,recordings,structure}/**/*.test.ts',
  '{console,lint,simulator}/**/*.test.ts',
];
/** Soaks, crowds and sieges: `npm run test:faults` sets the variable. */
const long = process.env.SLUICE_LONG === undefined ? ['**/*.long.test.ts'] : [];
const exclude = ['**/node_modules/**', ...long];

export default defineConfig({
  test: {
    pool: 'forks',
    setupFiles: ['gateway/test/support/property-seed.ts'],
    // Most of the time is spent waiting for time limits, processes and disks.
    maxWorkers: 3,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // What is awaited may take long on a busy machine; only what never comes fails.
    expect: { poll: { timeout: 15_000, interval: 20 } },
    reporters: report === undefined ? ['default'] : ['default', 'json'],
    ...(report === undefined ? {} : { outputFile: { json: report } }),
    projects: [
      { extends: true, test: { name: 'units', include: pure, exclude, isolate: false } },
      {
        extends: true,
        test: {
          name: 'gateway',
          include: ['gateway/test/**/*.test.ts', 'bench/**/*.test.ts'],
          exclude: [...exclude, ...pure],
          // A process per file: worker threads and open SQLite handles end with it, and `process.exit` is caught.
          isolate: true,
        },
      },
    ],
  },
});
