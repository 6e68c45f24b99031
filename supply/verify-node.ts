import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runtimePackages } from './lock.ts';
import { nodeBinaries, sha256Of } from './node-binaries.ts';

/*
 * `npm run verify:node`: downloads Node's package of every platform and compares it with the lock file, and the binary
 * inside with the checksum in `node.json`. Ends with 1 when one differs.
 */

const locked = new Map(runtimePackages().map((entry) => [entry.name, entry]));
const folder = mkdtempSync(join(tmpdir(), 'sluice-node-'));

/** A sentence about what differs, or null. */
async function verify(name: string): Promise<string | null> {
  const { file, sha256 } = nodeBinaries.packages[name]!;
  const { version, integrity } = locked.get(name) ?? { version: 'none', integrity: '' };
  if (version !== nodeBinaries.version) return `version ${version} is locked`;
  const run = (command: string, ...options: readonly string[]) =>
    execFileSync(command, options, {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  const archive = run('npm', 'pack', '--silent', `${name}@${version}`).trim();
  const digest = createHash('sha512').update(readFileSync(join(folder, archive)));
  if (`sha512-${digest.digest('base64')}` !== integrity) return 'the archive is not the locked one';
  run('tar', '-xzf', archive, `package/${file}`);
  const found = await sha256Of(join(folder, 'package', file));
  return found === sha256 ? null : `${file} has the SHA-256 ${found}`;
}

try {
  for (const name of Object.keys(nodeBinaries.packages)) {
    const difference = await verify(name);
    console.log(difference === null ? `✓ ${name}` : `✗ ${name}: ${difference}`);
    if (difference !== null) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
