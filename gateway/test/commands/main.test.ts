import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';

const main = new URL('../../src/main.js', import.meta.url).pathname;

test('a reader that closes the pipe is no failure', async () => {
  const child = spawn(process.execPath, [main, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

const pretendNode = (version: string): string[] => {
  const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  return ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`];
};

describe.each(['20.20.2', '22.20.0', '24.11.1'])('Node %s', (version) => {
  test('is refused as too old if npm brought no other', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-alone-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const alone = join(folder, 'main.mjs');
    copyFileSync(main, alone);
    const argv = [...pretendNode(version), alone, '-v'];
    const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^sluice needs Node 24\.12 or newer and this is [\d.]+\. .*\n$/);
    expect(stderr).toContain(version);
  });

  test('gives the command to the one that npm brought', () => {
    const argv = (...rest: string[]) => [...pretendNode(version), main, ...rest];
    const right = spawnSync(process.execPath, argv('-v'), { encoding: 'utf8' });
    expect(right).toMatchObject({ status: 0, stderr: '' });
    expect(right.stdout).toMatch(/^sluice /);
    const wrong = spawnSync(process.execPath, argv('nonsense'), { encoding: 'utf8' });
    expect(wrong).toMatchObject({ status: 2, stdout: '' });
  });
});
