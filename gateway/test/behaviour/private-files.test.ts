import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { greetingLines, ownAccounts, startInFolder } from '../support/start-in-folder.ts';

const program = fileURLToPath(new URL('../../src/main.js', import.meta.url));
const user = process.getuid?.() ?? 0;

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-private-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Paths below a folder that somebody but their owner may use. */
function openBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    // A file may go away meanwhile.
    (name) => ((lstatSync(join(folder, name), { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0,
  );
}

test(
  'a first start makes the files in its data folder accessible to its user only, whatever the umask',
  { timeout: 60_000 },
  async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'sluice.yaml'), 'server: { port: 0 }', { mode: 0o600 });
    const gateway = startGatewayProcess({
      folder,
      within: ['/bin/sh', '-c', 'umask 0; exec "$@"', 'sh'],
    });
    onTestFinished(() => void gateway.child.kill('SIGKILL'));
    await gateway.url;
    const greeting = greetingLines(gateway.stdout());
    expect(Object.keys(greeting)).toEqual(['console', 'upstream', 'admin', 'key', 'try']);
    const made = readdirSync(join(folder, 'data'));
    expect(made).toEqual(
      expect.arrayContaining([
        'journal.db',
        'journal.db-wal',
        'master.key',
        'sluice.db',
        'sluice.db-wal',
      ]),
    );
    expect(openBelow(folder)).toEqual([]);
    gateway.child.kill('SIGINT');
    expect(await gateway.exit).toBe(0);
    expect(openBelow(folder)).toEqual([]);
  },
);

test('a data folder and a database that others can read are tightened at the start, and the log says so', async () => {
  const folder = makeFolder();
  const file = join(folder, 'sluice.yaml');
  writeFileSync(file, `server: { port: 0 }${ownAccounts}`, { mode: 0o600 });
  mkdirSync(join(folder, 'data'), { mode: 0o755 });
  writeFileSync(join(folder, 'data/sluice.db'), '', { mode: 0o644 });
  const log: string[] = [];
  await startInFolder(folder, { log });
  expect(log.join('\n')).toContain('closed the data folder to other users');
  expect(openBelow(folder)).toEqual([]);
});

describe('the compile cache', () => {
  /** Runs a short command with this folder for temporary files, and gives where it put what it compiled. */
  function run(temporary: string): string[] {
    const { status, stderr } = spawnSync(process.execPath, [program, '--version'], {
      env: { PATH: dirname(process.execPath), HOME: temporary, TMPDIR: temporary },
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
    return readdirSync(temporary, { recursive: true, encoding: 'utf8' });
  }
  const name = `sluice-${user}`;

  test('is below a folder that only its user can open', () => {
    const temporary = makeFolder();
    expect(run(temporary)).toEqual(
      expect.arrayContaining([name, expect.stringContaining(join(name, 'compiled', 'v'))]),
    );
    expect(openBelow(temporary)).toEqual([]);
    expect(run(temporary)).not.toContain('node-compile-cache');
  });

  test.each<readonly [string, (planted: string, temporary: string) => void]>([
    [
      'others can write there',
      (planted) => {
        mkdirSync(planted);
        chmodSync(planted, 0o777);
      },
    ],
    [
      'others can read there',
      (planted) => {
        mkdirSync(planted);
        chmodSync(planted, 0o755);
      },
    ],
    [
      'it is a link',
      (planted, temporary) => {
        mkdirSync(join(temporary, 'theirs'), { mode: 0o700 });
        symlinkSync(join(temporary, 'theirs'), planted);
      },
    ],
    [
      'others can put another folder in its place',
      (planted, temporary) => {
        mkdirSync(planted, { mode: 0o700 });
        chmodSync(temporary, 0o777);
      },
    ],
    ...(user === 0
      ? [
          [
            'it is another user’s',
            (planted: string) => {
              mkdirSync(planted, { mode: 0o700 });
              chownSync(planted, 4711, 4711);
            },
          ] as const,
        ]
      : []),
  ])('is not used if %s', (_, plant) => {
    const temporary = makeFolder();
    plant(join(temporary, name), temporary);
    const before = readdirSync(temporary, { recursive: true, encoding: 'utf8' });
    expect(run(temporary)).toEqual(before);
    expect(existsSync(join(temporary, name, 'compiled'))).toBe(false);
  });
});
