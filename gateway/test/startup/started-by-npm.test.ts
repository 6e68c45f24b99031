import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readRunning } from '#commands/runtime-files.ts';
import { startGatewayPlace, type GatewayPlace } from '../support/gateway-place.ts';

/** As npm does it: a shell runs the gateway and stays its parent. */
const inShell: readonly string[] = ['/bin/sh', '-c', '"$@"; true', 'sh'];

/** Resolves when the gateway itself has ended, because its output is open until then. */
async function lastLines({ gateway, url }: GatewayPlace): Promise<string> {
  await gateway.exit;
  await expect(fetch(`${url}/health`)).rejects.toThrow('fetch failed');
  return gateway.stderr();
}

const inOrder = /"detail":"parent ended","msg":"stopping"[^]*"msg":"stopped"/;

test.each([{ npm_lifecycle_event: 'start' }, { SLUICE_PARENT: '1' }])(
  'a gateway stops in order when the shell or the Node between has ended: %j',
  async (environment) => {
    const place = await startGatewayPlace({ within: inShell, environment });
    place.gateway.child.kill('SIGTERM');
    expect(await lastLines(place)).toMatch(inOrder);
  },
);

/** `npm start`, with what the script has before the gateway's own command. */
async function startByNpm(script: string): Promise<GatewayPlace> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-npm-'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: { start: script } }));
  const place = await startGatewayPlace({
    folder,
    within: ['npm', 'start', '--silent', '--'],
    environment: { PATH: process.env['PATH'] ?? '' },
  });
  // The end of npm does not end it.
  onTestFinished(() => {
    const running = readRunning(join(folder, 'data'));
    if (running !== null) process.kill(running.pid, 'SIGKILL');
  });
  return place;
}

test('it stops when npm was killed and its shell lives on, unless it has a session of its own', async () => {
  const detached = await startByNpm('setsid');
  const [direct, byScript] = await Promise.all([
    startByNpm('env'),
    startByNpm('sh -c \'"$@"; true\' sh'),
  ]);
  for (const { gateway } of [detached, direct, byScript]) gateway.child.kill('SIGKILL');
  expect(await lastLines(direct)).toMatch(inOrder);
  expect(await lastLines(byScript)).toMatch(inOrder);
  expect((await fetch(`${detached.url}/health`)).status).toBe(200);
});
