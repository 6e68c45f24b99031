import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)(
  'the unit leaves little of the system to the gateway',
  () => {
    const { status, stdout } = spawnSync(
      'systemd-analyze',
      ['security', '--offline=true', '--threshold=30', 'deploy/systemd/sluice.service'],
      { encoding: 'utf8' },
    );
    expect(stdout).toMatch(/Overall exposure level/);
    expect(status).toBe(0);
  },
);
