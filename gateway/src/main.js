#!/usr/bin/env node
// @ts-check
import { lstatSync, mkdirSync } from 'node:fs';
import module from 'node:module';
import { availableParallelism, tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

// The only JavaScript of the gateway: any Node can say which one is needed, and one that keeps what it has compiled
// reads no TypeScript, so that the compiler for it, some 20 MB, is not loaded. Runs on Node 18.

/** Node 24.12 runs TypeScript as it is and has everything that is used here. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 12)) {
  process.stderr.write(
    `sluice needs Node 24.12 or newer and this is ${process.versions.node}. 'npm install' brings one: use npm start, or npx sluice.\n`,
  );
  process.exit(1);
}

// Threads that mark what is alive beside the main thread help when they have a core. On the only one they take turns
// with it, and requests wait for tens of milliseconds.
if (availableParallelism() === 1) setFlagsFromString('--no-concurrent-marking');

// What this process makes is its user's alone: database, journal, keys, caches.
process.umask(0o077);

// Starting means compiling the same files again and again; the result is kept. Threads and child processes know of it by
// the environment only: without it each of them loads the compiler, some 40 MB in all.
const cache = process.env['NODE_COMPILE_CACHE'] ?? ownCacheFolder();
if (cache !== undefined) {
  const { directory } = module.enableCompileCache(cache);
  if (directory !== undefined) process.env['NODE_COMPILE_CACHE'] ??= cache;
}

/**
 * What is in this folder is executed. So it stands below one that only this user can write, and nobody else could have
 * made, or there is none.
 * @returns {string | undefined}
 */
function ownCacheFolder() {
  const folder = join(tmpdir(), `sluice-${process.getuid?.() ?? userInfo().username}`);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    // It is there already, or cannot be made: the next look tells.
  }
  const above = lstatSync(dirname(folder), { throwIfNoEntry: false });
  const own = lstatSync(folder, { throwIfNoEntry: false });
  if (above === undefined || own === undefined || !own.isDirectory()) return undefined;
  const user = process.getuid?.();
  // Windows: the folder for temporary files is the user's own.
  if (user === undefined) return join(folder, 'compiled');
  const isOwn = own.uid === user && (own.mode & 0o077) === 0;
  // Else somebody could put another folder in its place.
  const isSafe = (above.mode & 0o022) === 0 || (above.mode & 0o1000) !== 0;
  const isTrusted = above.uid === user || above.uid === 0;
  return isOwn && isSafe && isTrusted ? join(folder, 'compiled') : undefined;
}

const { run } = await import('#commands/index.ts');
process.exitCode = await run(process.argv.slice(2), {
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
});
