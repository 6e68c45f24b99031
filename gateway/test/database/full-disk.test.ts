import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { prepareDataFolder, readMasterKey } from '#database/index.ts';

const mounted = mkdtempSync(join(tmpdir(), 'sluice-full-'));
const trial = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=700', 'sluice', mounted]);
afterAll(() => {
  if (trial.status === 0) spawnSync('umount', ['--lazy', mounted]);
  rmSync(mounted, { recursive: true, force: true });
});

test.skipIf(trial.status !== 0)('a master key that a full disk does not take is named', () => {
  const data = join(mounted, 'data');
  prepareDataFolder(data);
  const filler = openSync(join(mounted, 'filler'), 'w');
  onTestFinished(() => closeSync(filler));
  expect(() => {
    for (;;) writeSync(filler, Buffer.alloc(4_096));
  }).toThrow('ENOSPC');
  expect(() => readMasterKey(data)).toThrow(
    `storage.data_dir: ${data}/master.key cannot be used: the disk is full`,
  );
  expect(readdirSync(data)).toEqual([]);
});
