import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');

const testFile = (...statuses: string[]) => ({
  name: join(root, 'gateway/test/some.test.ts'),
  status: statuses.every((status) => status === 'passed') ? 'passed' : 'failed',
  assertionResults: statuses.map((status) => ({ status })),
});
const reportOf = (passed: number, failed: number, skipped: number, files: readonly object[] = []) =>
  JSON.stringify({
    numPassedTests: passed,
    numFailedTests: failed,
    numPendingTests: skipped,
    numTodoTests: 0,
    testResults: files,
  });
const oneFailed = reportOf(3, 1, 0, [testFile('passed', 'failed'), testFile('passed')]);
const good = reportOf(3, 0, 1, [testFile('passed', 'passed', 'passed')]);

interface Stubs {
  /** Commands and functions of the script in other words: `name() { …; }`. */
  readonly shell?: string;
  /** What the tests leave; null: nothing. */
  readonly report?: string | null;
  /** How `npm run test` ends. */
  readonly exit?: number;
  /** What the second run of the tests leaves; empty: nothing. It ends well when nothing in it failed. */
  readonly again?: string;
}

/** Runs `main` of `.ci/run`, with everything it calls replaced. */
function runCi({ shell = '', report = good, exit = 0, again = '' }: Stubs) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-ci-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const script = `
    source .ci/run
    answers() { :; }; as_admin() { :; }; need() { printf 'need %s\\n' "$1"; }
    oxlint() { :; }; oxfmt() { :; }; knip() { :; }
    npm() {
      case "\${3-}" in
        test) ;;
        test:system) printf '%s' "$SYSTEM" >"$SLUICE_TEST_REPORT"; return 0 ;;
        *) return 0 ;;
      esac
      if [ "\${4-}" = -- ]; then
        printf 'again %s\\n' "\${*:5}"
        if [ -n "$AGAIN" ]; then printf '%s' "$AGAIN" >"$SLUICE_TEST_REPORT"; fi
        case $AGAIN in *'"numFailedTests":0'*) return 0 ;; *) return 1 ;; esac
      fi
      if [ -n "$REPORT" ]; then printf '%s' "$REPORT" >"$SLUICE_TEST_REPORT"; fi
      return ${exit}
    }
    ${shell}
    main
  `;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script, '.ci/test'], {
    cwd: root,
    encoding: 'utf8',
    env: {
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      TMPDIR: folder,
      REPORT: report ?? '',
      AGAIN: again,
      SYSTEM: reportOf(2, 0, 0),
    },
  });
  return { status, counts: stdout.trimEnd().split('\n').at(-1), text: stdout + stderr };
}

describe.skipIf(process.platform === 'win32')('.ci/run', () => {
  test('passes if everything does, and counts it', () => {
    expect(runCi({})).toMatchObject({ status: 0, counts: '11 passed, 0 failed, 1 skipped' });
  });

  test.each<[string, Stubs, string]>([
    ['a rule is broken', { shell: 'oxlint() { return 1; }' }, '10 passed, 1 failed, 1 skipped'],
    ['a format is not ours', { shell: 'oxfmt() { return 2; }' }, '10 passed, 1 failed, 1 skipped'],
    ['something is unused', { shell: 'knip() { false; }' }, '9 passed, 2 failed, 1 skipped'],
    [
      'only tests use something',
      { shell: 'knip() { [ $# = 0 ]; }' },
      '10 passed, 1 failed, 1 skipped',
    ],
    ['a test fails', { report: reportOf(3, 2, 0), exit: 1 }, '11 passed, 2 failed, 0 skipped'],
    [
      'a test fails and nobody says so',
      { report: reportOf(3, 2, 0) },
      '11 passed, 2 failed, 0 skipped',
    ],
    [
      'a file of tests does not load',
      { report: reportOf(3, 0, 0, [{ status: 'failed', assertionResults: [] }]), exit: 1 },
      '11 passed, 1 failed, 0 skipped',
    ],
    [
      'a test fails twice',
      { report: oneFailed, exit: 1, again: reportOf(2, 1, 0, [testFile('failed')]) },
      '11 passed, 1 failed, 0 skipped',
    ],
    [
      'a second run leaves nothing',
      { report: oneFailed, exit: 1 },
      '11 passed, 1 failed, 0 skipped',
    ],
    [
      'tests fail in many files, which one run alone would not explain',
      {
        report: reportOf(
          3,
          4,
          0,
          Array.from({ length: 4 }, () => testFile('failed')),
        ),
        exit: 1,
        again: reportOf(4, 0, 0),
      },
      '11 passed, 4 failed, 0 skipped',
    ],
    ['tests end badly, all passed', { exit: 1 }, '11 passed, 1 failed, 1 skipped'],
    ['all tests are skipped', { report: reportOf(0, 0, 9) }, '8 passed, 1 failed, 9 skipped'],
    ['tests leave no report', { report: null }, '8 passed, 1 failed, 0 skipped'],
    ['tests leave half a report', { report: '{"numPassed' }, '8 passed, 1 failed, 0 skipped'],
    [
      'a check is killed',
      { shell: 'oxlint() { kill -KILL "$BASHPID"; }' },
      '5 passed, 1 failed, 1 skipped',
    ],
    [
      'a service does not start',
      { shell: 'start_redis() { return 1; }' },
      '0 passed, 1 failed, 0 skipped',
    ],
    ['a program cannot be had', { shell: 'need() { false; }' }, '0 passed, 1 failed, 0 skipped'],
  ])('fails when %s', (_what, stubs, counts) => {
    const seen = runCi(stubs);
    expect({ ...seen, text: '' }).toEqual({ status: 1, counts, text: '' });
  });

  test('names at its end the checks that failed', () => {
    const { text } = runCi({ shell: 'knip() { false; }' });
    expect(text).toContain('✗ lint: nothing unused\n✗ lint: nothing that only tests use\n9 passed');
  });

  test('a test that passes when it is run again alone passes, and is named', () => {
    const seen = runCi({ report: oneFailed, exit: 1, again: reportOf(2, 0, 0) });
    expect(seen).toMatchObject({ status: 0, counts: '12 passed, 0 failed, 0 skipped' });
    const file = 'gateway/test/some.test.ts';
    expect(seen.text).toContain(`again ${file}\n`);
    expect(seen.text).toContain(`! passed only in a second run: ${file}\n`);
  });

  test('its programs are required even where services respond', () => {
    const needs = [...runCi({}).text.matchAll(/^need (.*)$/gm)].map(([, program]) => program);
    expect(needs).toEqual(
      'psql redis-server redis-cli nginx promtool haproxy pgbouncer strace nft chromium curl jq'.split(
        ' ',
      ),
    );
  });
});

describe('a test that a run with CI set requires is not skipped if something is missing', () => {
  test.each([
    ['gateway/test/limits/private-redis.ts', 'SLUICE_TEST_REDIS_SERVER', /no redis-server at/],
    ['gateway/test/recordings/recordings.ts', 'SLUICE_RECORDINGS', /no recordings in/],
  ])('%s', (file, variable, reason) => {
    const load = (environment: Record<string, string>) =>
      spawnSync(process.execPath, [join(root, file)], {
        encoding: 'utf8',
        env: { PATH: process.env.PATH, [variable]: join(root, 'nowhere'), ...environment },
      });
    const required = load({ CI: '1' });
    expect(required.status).toBe(1);
    expect(required.stderr).toMatch(reason);
    expect(load({}).status).toBe(0);
  });
});
