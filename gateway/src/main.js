#!/usr/bin/env node
// @ts-check
import { spawn } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import module from 'node:module';
import { availableParallelism, constants, tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// The only JavaScript of the gateway. Any Node version can run it and say which version is needed; and with a compile
// cache it needs no TypeScript compiler, which takes some 20 MB. Runs on Node 18.

/** Node 24.12 runs TypeScript directly and has everything that the gateway uses. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 12)) await runOnInstalledNode();

// Concurrent marking threads help if they have a core. On the only core they take turns with the main thread, and
// requests wait for tens of milliseconds.
if (availableParallelism() === 1) setFlagsFromString('--no-concurrent-marking');

// Every file that this process creates is its user's alone: database, journal, keys, caches.
process.umask(0o077);

// Every start compiles the same files, so the result is cached. Threads and child processes learn of the cache only
// through the environment; without it each of them loads the compiler, some 40 MB in all.
const cache = process.env['NODE_COMPILE_CACHE'] ?? ownCacheFolder();
if (cache !== undefined) {
  const { directory } = module.enableCompileCache(cache);
  if (directory !== undefined) process.env['NODE_COMPILE_CACHE'] ??= cache;
}

/**
 * Runs the same command on the Node that `npm install` brought, and ends as it ends. This process stays its parent, so
 * that whoever started it can wait for it and signal it.
 * @returns {Promise<never>}
 */
async function runOnInstalledNode() {
  const node = process.env['SLUICE_PARENT'] === undefined ? installedNode() : undefined;
  if (node === undefined) {
    process.stderr.write(
      `sluice needs Node 24.12 or newer and this is ${process.versions.node}. 'npm install' brings one: use npm start, or npx sluice.\n`,
    );
    process.exit(1);
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, SLUICE_PARENT: String(process.pid) },
  });
  for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(name, () => child.kill(name));
  }
  const [code, signal] = await new Promise((resolve, reject) => {
    child.once('error', reject).once('exit', (...ended) => resolve(ended));
  });
  // The shell's number for a process that a signal ended.
  process.exit(code ?? 128 + (constants.signals[/** @type {NodeJS.Signals} */ (signal)] ?? 0));
}

/**
 * Installed beside this program, or in a folder above it.
 * @returns {string | undefined}
 */
function installedNode() {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const node = join(folder, 'node_modules', '.bin', 'node');
    if (existsSync(node)) return node;
    const above = dirname(folder);
    if (above === folder) return undefined;
    folder = above;
  }
}

/**
 * Files in this folder are executed, so it must be below a folder that only this user can write and nobody else could
 * have created; otherwise there is no cache.
 * @returns {string | undefined}
 */
function ownCacheFolder() {
  const folder = join(tmpdir(), `sluice-${process.getuid?.() ?? userInfo().username}`);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    // It exists already, or cannot be created: the next check decides.
  }
  const above = lstatSync(dirname(folder), { throwIfNoEntry: false });
  const own = lstatSync(folder, { throwIfNoEntry: false });
  if (above === undefined || own === undefined || !own.isDirectory()) return undefined;
  const user = process.getuid?.();
  // Windows: the folder for temporary files is the user's own.
  if (user === undefined) return join(folder, 'compiled');
  const isOwn = own.uid === user && (own.mode & 0o077) === 0;
  // Otherwise somebody could put another folder in its place.
  const isSafe = (above.mode & 0o022) === 0 || (above.mode & 0o1000) !== 0;
  const isTrusted = above.uid === user || above.uid === 0;
  return isOwn && isSafe && isTrusted ? join(folder, 'compiled') : undefined;
}

// `head` closes the pipe once it has seen enough: then a command is done, and the gateway itself runs on.
process.stdout.on('error', (error) => {
  if (!('code' in error) || error.code !== 'EPIPE') throw error;
  if (process.argv[2] !== 'start') process.exit();
});

const { run } = await import('#commands/index.ts');
process.exitCode = await run(process.argv.slice(2), {
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
});
// A stopped gateway has closed everything. A library that still waits, as for a collector that hangs, waits in vain.
if (process.argv[2] === 'start') setTimeout(() => process.exit(), 100).unref();
