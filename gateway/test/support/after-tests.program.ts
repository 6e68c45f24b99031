import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';

/*
 * Says after `npm test` what was left out and what is worth running next. The continuous integration run has every
 * service, and decides by itself.
 */

/** Whoever changes these runs the sieges too. */
const besieged = [
  'gateway/src/store',
  'gateway/src/money/limits/leases',
  'gateway/src/process',
  'gateway/src/exchange/tasks',
  'gateway/src/exchange/bodies',
  'gateway/src/exchange/body-work',
];

const addresses = {
  PostgreSQL: process.env['SLUICE_TEST_POSTGRES'] ?? 'postgres://127.0.0.1:5432',
  Redis: process.env['SLUICE_TEST_REDIS'] ?? 'redis://127.0.0.1:6379',
};

async function accepts(address: string): Promise<boolean> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

if (process.env['CI'] === undefined) {
  const missing: string[] = [];
  for (const [name, address] of Object.entries(addresses)) {
    if (!(await accepts(address))) missing.push(name);
  }
  if (missing.length > 0) {
    process.stdout.write(
      `Skipped: the tests that need ${missing.join(' and ')}. \`bash .ci/services\` starts both; then run \`npm test\` again.\n`,
    );
  }
  const changes = spawnSync('git', ['diff', '--quiet', 'HEAD~20', '--', ...besieged]);
  if (changes.status === 1) {
    process.stdout.write(
      `Changed in the last 20 commits: something below ${besieged.join(', ')}. Run \`npm run test:faults\` too.\n`,
    );
  }
}
