import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Workers, their threads and the processes that tests start load the same files: they are compiled once.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), `sluice-tests-${process.getuid?.() ?? ''}`);

/** Set by the continuous integration run: where the machine-readable report goes. */
const report = process.env.SLUICE_TEST_REPORT;

/** Fails a run in which a file of `npm test` was dear. */
const quickFiles = new URL('gateway/test/support/quick-files.reporter.ts', import.meta.url)
  .pathname;

/** Functions and rules, which need neither a gateway nor a database. */
const units = [
  'gateway/{importers,src}/**/*.test.ts',
  'gateway/test/{config,conversion,net,property,recordings,structure}/**/*.test.ts',
  '{console,lint,simulator}/**/*.test.ts',
];
/** They replace modules, which other files in the same process would find replaced. */
const mocked = [
  'gateway/test/behaviour/{defect,vendor-quirks}.test.ts',
  'gateway/test/estimation/no-thread.test.ts',
  'gateway/test/startup/secrets-file.test.ts',
  'gateway/test/usage/retention-in-steps.test.ts',
];
/** What only whole processes, other programs, a browser or very large bodies can show: `npm run test:system`. */
const system = [
  'gateway/test/attacks/{one-process,servers}.test.ts',
  'gateway/test/behaviour/{hostile-json,private-files,readme,start}.test.ts',
  'gateway/test/behaviour/{image-uploads,large-bodies,large-embeddings,slow-client}.test.ts',
  'gateway/test/commands/{main,reload}.test.ts',
  'gateway/test/console/{*-journey,journey,playground-off}.test.ts',
  'gateway/test/database/{full-disk,migrated-together,pgbouncer}.test.ts',
  'gateway/test/faults/{database-away,disk,first-start,kill,rolling-restart,without-redis}.test.ts',
  'gateway/test/http/{behind-proxies,vanished-clients}.test.ts',
  'gateway/test/journal/unfinished.test.ts',
  'gateway/test/matrix/published-requests.test.ts',
  'gateway/test/nodes/read-only-database.test.ts',
  'gateway/test/observability/{promtool,tracing-process,unread-log}.test.ts',
  'gateway/test/startup/{package,started-by-npm,systemd-unit}.test.ts',
  'gateway/test/workers/**/*.test.ts',
];
/** Sieges of several processes, bodies of hundreds of megabytes, and searches of many states: `npm run test:faults`. */
const faults = [
  'gateway/test/attacks/{clocks,deaf-node,freed-nodes,lost-replies,midnight,nodes,went-back}.test.ts',
  'gateway/test/behaviour/large-{images,pictures,responses}.test.ts',
  'gateway/test/faults/{changes-on-all-nodes,clock-steps,fleet,kill-*,killed-node,media-names,midnight,names}.test.ts',
  'gateway/test/faults/{nodes-images,rolling-upgrade,settings-under-load,shared-limits,sqlite-threads,thread-death}.test.ts',
  'gateway/test/faults/{uncaught,vanished,videos-*}.test.ts',
  'gateway/test/journal/{disk-full,kill,lost-records,unwritable,unwritable-images}.test.ts',
  'gateway/test/leases/model.test.ts',
  'gateway/test/limits/clocks.test.ts',
  'gateway/test/money/delayed-applier.test.ts',
  '**/*.long.test.ts',
];
/** Soaks and crowds, which run for as long as they are told to. */
const long = process.env.SLUICE_LONG === undefined ? ['**/*.long.test.ts'] : [];
const exclude = ['**/node_modules/**', ...long];

export default defineConfig({
  test: {
    pool: 'forks',
    setupFiles: ['gateway/test/support/setup.ts'],
    // More than there usually are processors, because tests wait for disks and clocks.
    maxWorkers: 4,
    // Files of one process share its modules, which take longer to load than most files run. `setup.ts` fails a file
    // that leaves something behind.
    isolate: false,
    // Beyond these, something hangs: a busy machine takes its time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000, interval: 20 } },
    reporters:
      report === undefined
        ? ['default']
        : ['default', ['json', { outputFile: report }], quickFiles],
    projects: [
      { extends: true, test: { name: 'units', include: units, exclude } },
      { extends: true, test: { name: 'mocked', include: mocked, exclude, isolate: true } },
      {
        extends: true,
        test: {
          name: 'gateway',
          include: ['gateway/test/**/*.test.ts', 'bench/**/*.test.ts'],
          exclude: [...exclude, ...units, ...mocked, ...system, ...faults],
        },
      },
      { extends: true, test: { name: 'system', include: system, exclude } },
      { extends: true, test: { name: 'faults', include: faults, exclude } },
    ],
  },
});
