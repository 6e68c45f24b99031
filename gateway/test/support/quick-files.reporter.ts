import type { Reporter, TestModule } from 'vitest/node';

/** The parts of `npm test`. */
const quickProjects = new Set(['units', 'mocked', 'gateway']);
/** CPU time, as a busy machine takes more of the clock only. */
const mostCpuSeconds = 8;
/**
 * The same of the whole. Cores that share caches, or a slow machine, take up to twice the time for the same work, but for
 * every file alike.
 */
const mostShare = 0.02;

/** Files that may use more, or start processes, by the reason. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  'a Redis of its own, which is up in milliseconds': [
    'gateway/test/limits/redis-batches.test.ts',
    'gateway/test/limits/redis-commands.test.ts',
    'gateway/test/limits/redis-faults.test.ts',
    'gateway/test/limits/redis-stalls.test.ts',
    'gateway/test/limits/shared-values.test.ts',
    'gateway/test/money/rates-in-redis.test.ts',
  ],
  'git, a shell or openssl, for less than a second': [
    'gateway/test/behaviour/connecting.test.ts',
    'gateway/test/console/administration-page.test.ts',
    'gateway/test/http/tls.test.ts',
    'gateway/test/structure/ci-run.test.ts',
    'gateway/test/structure/directions.test.ts',
    'gateway/test/structure/supply.test.ts',
  ],
  'a small process is the subject': [
    'gateway/src/process/commands/build-console.test.ts',
    'gateway/src/process/startup/simulator-process.test.ts',
    'gateway/test/console/pages.test.ts',
    'gateway/test/nodes/ready.test.ts',
    'gateway/test/structure/footprint.test.ts',
    'gateway/test/tasks/s3-storage.test.ts',
    'simulator/test/main.test.ts',
  ],
  'hundreds of requests at once, or one after the other, are the subject': [
    'gateway/test/behaviour/count-tokens.test.ts',
    'gateway/test/behaviour/health.test.ts',
    'gateway/test/behaviour/overload.test.ts',
  ],
  'every protocol, and bodies of megabytes': [
    'gateway/test/behaviour/state-rules.test.ts',
    'gateway/test/fuzz/fuzz.test.ts',
    'gateway/test/journal/journal.test.ts',
  ],
};
const excepted = new Set(Object.values(exceptions).flat());

/**
 * Names files of `npm test` that were dear: they belong to the tests of the system, or can do with less. Fails a run in
 * which one started a process; CPU time depends on the machine, so it fails nothing.
 */
export default class QuickFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const footprints = modules.flatMap((module) => {
      const { footprint } = module.meta();
      return footprint === undefined || !quickProjects.has(module.project.name)
        ? []
        : [{ module, ...footprint }];
    });
    const whole = footprints.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
    const most = Math.max(mostCpuSeconds, mostShare * whole);
    for (const { module, cpuSeconds, processes } of footprints) {
      if (cpuSeconds <= most && processes === 0) continue;
      if (excepted.has(module.relativeModuleId)) continue;
      if (processes > 0) process.exitCode = 1;
      process.stderr.write(
        `${processes > 0 ? '✗' : '!'} ${module.relativeModuleId} used ${cpuSeconds.toFixed(1)} CPU seconds and started ${processes} processes. ` +
          `A file of \`npm test\` may use ${most.toFixed(1)} and start none: docs/testing.md, What a test may cost.\n`,
      );
    }
  }
}
