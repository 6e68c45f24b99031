import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { prepareDataFolder, readMasterKey, tightenDataFolder } from '#database/index.ts';

const isRoot = process.getuid?.() === 0;
const ownGroup = process.getgid?.() ?? 0;
const modeOf = (path: string) => statSync(path).mode & 0o7777;

let above: string;
let folder: string;
beforeEach(() => {
  above = mkdtempSync(join(tmpdir(), 'sluice-data-'));
  folder = join(above, 'data');
  onTestFinished(() => rmSync(above, { recursive: true }));
});

function makeFolder(mode: number): void {
  mkdirSync(folder);
  chmodSync(folder, mode);
}

function makeFile(path: string, mode: number): string {
  writeFileSync(path, 'x');
  chmodSync(path, mode);
  return path;
}

/** The messages in the log. */
function tighten(databaseUrl = `sqlite:${join(folder, 'sluice.db')}`): string[] {
  const lines: string[] = [];
  const say = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  tightenDataFolder({
    dataDir: folder,
    databaseUrl,
    log: { info: say('info'), warn: say('warn') },
  });
  return lines;
}

test('a new data folder is accessible to its owner only', () => {
  prepareDataFolder(folder);
  expect(modeOf(folder)).toBe(0o700);
  expect(tighten()).toEqual([]);
});

describe('an existing data folder', () => {
  test.each([0o755, 0o750, 0o711, 0o704])(
    'with mode %o is tightened, with a line in the log',
    (mode) => {
      makeFolder(mode);
      prepareDataFolder(folder);
      expect(tighten()).toEqual(['info closed the data folder to other users']);
      expect(modeOf(folder)).toBe(0o700);
      expect(tighten()).toEqual([]);
    },
  );

  test('is tightened with all gateway files in it, and the database elsewhere', () => {
    makeFolder(0o700);
    mkdirSync(join(folder, 'worker-2'));
    chmodSync(join(folder, 'worker-2'), 0o755);
    mkdirSync(join(folder, 'other'));
    chmodSync(join(folder, 'other'), 0o755);
    const elsewhere = join(above, 'books.db');
    const files = [
      ...['sluice.db', 'sluice.db-wal', 'copy.db', 'worker-2/journal.db'].map((name) =>
        join(folder, name),
      ),
      ...['', '-wal', '-shm'].map((end) => `${elsewhere}${end}`),
    ];
    for (const file of files) makeFile(file, 0o644);
    symlinkSync(makeFile(join(above, 'linked'), 0o644), join(folder, 'link'));
    expect(tighten(`sqlite:${elsewhere}`)).toHaveLength(1);
    for (const file of files) expect([file, modeOf(file)]).toEqual([file, 0o600]);
    expect(modeOf(join(folder, 'worker-2'))).toBe(0o700);
    expect(modeOf(join(folder, 'other'))).toBe(0o755);
    expect(modeOf(join(above, 'linked'))).toBe(0o644);
  });

  test.each([0o777, 0o1777, 0o775, 0o722, 0o702, 0o2777])(
    'with mode %o is refused, with the command that repairs it',
    (mode) => {
      makeFolder(mode);
      expect(() => prepareDataFolder(folder)).toThrow(`run: chmod 700 '${folder}'`);
      chmodSync(folder, 0o700);
      prepareDataFolder(folder);
    },
  );

  test.runIf(isRoot)('of another user is refused, with the command that repairs it', () => {
    makeFolder(0o700);
    chownSync(folder, 4711, 4711);
    expect(() => prepareDataFolder(folder)).toThrow(
      `belongs to another user (4711); run as that user, or run: chown -R 0 '${folder}'`,
    );
    chownSync(folder, 0, 0);
    prepareDataFolder(folder);
  });

  test('mounted for our group is used with a warning, as are files that the mount opens to it', () => {
    makeFolder(0o700);
    readMasterKey(folder);
    // As Kubernetes does for `fsGroup` at each start.
    chownSync(folder, statSync(folder).uid, ownGroup);
    chmodSync(folder, 0o2770);
    const key = join(folder, 'master.key');
    chmodSync(key, 0o660);
    const database = makeFile(join(folder, 'sluice.db'), 0o664);
    prepareDataFolder(folder);
    expect(tighten()).toEqual([
      'warn every process of the group can read the data folder',
      'info closed the data folder to other users',
    ]);
    expect([modeOf(folder), modeOf(key), modeOf(database)]).toEqual([0o2770, 0o660, 0o660]);
    expect(readMasterKey(folder)).toHaveLength(32);
    chmodSync(key, 0o664);
    expect(() => readMasterKey(folder)).toThrow('chmod 600');
  });

  test.runIf(isRoot)('with a foreign group is not a mount for us', () => {
    makeFolder(0o700);
    chownSync(folder, 0, 4711);
    chmodSync(folder, 0o2770);
    expect(() => prepareDataFolder(folder)).toThrow('chmod 700');
  });
});
