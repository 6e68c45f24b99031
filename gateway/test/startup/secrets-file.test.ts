import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { assertSecretsFile, writeSecretsFile } from '#startup/secrets-file.ts';

vi.mock('node:fs', { spy: true });

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-secrets-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'secrets.txt');
}

test('a disk that accepts nothing is named with the file, and no file is left behind', () => {
  const file = newFile();
  vi.mocked(fs.fsyncSync).mockImplementationOnce(() => {
    throw new Error('ENOSPC: no space left on device, fsync');
  });
  expect(() => writeSecretsFile(file, 'key: sk-1\n', false)).toThrow(
    `--secrets-file: ${file} cannot be written: ENOSPC: no space left on device, fsync`,
  );
  expect(existsSync(file)).toBe(false);

  assertSecretsFile(file);
  writeSecretsFile(file, 'key: sk-1\n', false);
  expect(readFileSync(file, 'utf8')).toBe('key: sk-1\n');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
