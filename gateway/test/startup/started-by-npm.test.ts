import { expect, test } from 'vitest';
import { startGatewayPlace } from '../support/gateway-place.ts';

// As `npm start` does it: npm runs a shell, the shell runs the gateway, and a signal ends the shell alone.
const inShell: readonly string[] = ['/bin/sh', '-c', '"$@"; true', 'sh'];

test('a gateway that npm started stops in order when npm and its shell have ended', async () => {
  const { gateway, url } = await startGatewayPlace({
    within: inShell,
    environment: { npm_lifecycle_event: 'start' },
  });
  expect((await fetch(`${url}/health`)).status).toBe(200);
  gateway.child.kill('SIGTERM');
  // Its output is open until the gateway itself has ended.
  await gateway.exit;
  expect(gateway.stderr()).toContain('"parent ended"');
  expect(gateway.stderr()).toContain('"stopped"');
  await expect(fetch(`${url}/health`)).rejects.toThrow('fetch failed');
});
