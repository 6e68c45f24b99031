#!/usr/bin/env node
// @ts-check
import module from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
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

// Starting means compiling the same files again and again; the result is kept in the user's cache folder. Threads and
// child processes know of it by the environment only: without it each of them loads the compiler, some 40 MB in all.
const { directory } = module.enableCompileCache();
if (directory !== undefined) process.env['NODE_COMPILE_CACHE'] ??= dirname(directory);

const { run } = await import('./commands/index.ts');
process.exitCode = await run(process.argv.slice(2), {
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
});
