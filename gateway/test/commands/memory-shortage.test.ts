import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { logMemoryShortage } from '#commands/start-steps.ts';
import { run } from '#commands/index.ts';
import { parseConfig } from '#config/index.ts';

const mebibyte = 2 ** 20;
const fourWorkers = `
server: { workers: 4 }
storage: { url: 'postgres://sluice@127.0.0.1/sluice' }
redis: { url: 'redis://127.0.0.1' }
secrets: { master_key: hPzYqMHn6FkQ0sPdr1ZDGm0H8c0rVqZ0y9bq3Xw1m2c= }
`;

/** A cgroup with so much memory. */
function limitMemory(mebibytes: number): void {
  const spy = vi.spyOn(process, 'constrainedMemory').mockReturnValue(mebibytes * mebibyte);
  onTestFinished(() => spy.mockRestore());
}

function makeFolder(config: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-memory-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'sluice.yaml'), config);
  return folder;
}

async function check(config: string): Promise<string> {
  let warnings = '';
  const code = await run(['check'], {
    stdout: () => {},
    stderr: (text) => void (warnings += text),
    environment: {},
    workingDirectory: makeFolder(config),
  });
  expect(code).toBe(0);
  return warnings;
}

test.each([
  ['one process in 511 MiB', '{}', 511, 'each process has 511 MiB of memory, and needs 512 MiB'],
  ['one process in 512 MiB', '{}', 512, ''],
  ['four workers in 1 GiB', fourWorkers, 1024, 'each process has 256 MiB of memory'],
  ['four workers in 2 GiB', fourWorkers, 2048, ''],
])('check and start: %s', async (_what, config, mebibytes, warning) => {
  limitMemory(mebibytes);
  const warnings = await check(config);
  if (warning === '') expect(warnings).not.toContain('memory');
  else expect(warnings).toContain(`warning: ${warning}`);

  const logged: unknown[] = [];
  const read = parseConfig(config, { file: 'sluice.yaml' });
  logMemoryShortage(read, { warn: (message, fields) => void logged.push(message, fields?.detail) });
  const line = ['memory is low', expect.stringContaining(warning)];
  expect(logged).toEqual(warning === '' ? [] : line);
});
