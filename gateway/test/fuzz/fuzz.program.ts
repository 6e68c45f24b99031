import { fork, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryBound } from './oracle.ts';
import { fuzzTargets } from './targets.ts';
import type { Report } from './targets.program.ts';

/*
 * `npm run test:fuzz`: every target for its share of SLUICE_FUZZ_SECONDS (default: ten minutes), with the seed
 * SLUICE_FUZZ_SEED (default: another one each time). With SLUICE_FUZZ_INPUTS every target gets that many inputs
 * instead, the same ones each time. Arguments choose targets by part of their names. What was found stays in the folder
 * that is printed; SLUICE_FUZZ_FOLDER names it.
 */

const seconds = Number(process.env['SLUICE_FUZZ_SECONDS'] ?? 600);
const inputs = Number(process.env['SLUICE_FUZZ_INPUTS'] ?? 0);
const seed = Number(process.env['SLUICE_FUZZ_SEED'] ?? (inputs > 0 ? 1 : Date.now() % 2 ** 31));
const folder = process.env['SLUICE_FUZZ_FOLDER'] ?? mkdtempSync(join(tmpdir(), 'sluice-fuzz-'));
mkdirSync(folder, { recursive: true });
const wanted = process.argv.slice(2);
const names = fuzzTargets
  .map(({ name }) => name)
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)));

const program = join(import.meta.dirname, 'targets.program.ts');
const mebibyte = 2 ** 20;
/** Longer than any input that ends within its bound can take on a machine that is busy with something else. */
const silenceMs = 60_000;
/** No target needs it; above it one input has eaten all there is. */
const heapMebibytes = 1536;

const findings: string[] = [];
function find(target: string, message: string, file: string): void {
  findings.push(target);
  console.log(`✗ ${target}: ${message}\n  input: ${file}`);
}

/** Inputs that took too much time in a process that had done much before. */
const slow: { readonly target: string; readonly file: string; readonly message: string }[] = [];

/** Inputs that may have taken too much memory. */
const suspected: { readonly target: string; readonly file: string; readonly excess: number }[] = [];
/** How many of them are tried again, the worst first: each takes seconds. */
const mostTried = 10;

/** Fuzzes targets in a process of their own. @returns the one that its process did not survive, or null. */
function fuzz(targets: readonly string[]): Promise<string | null> {
  const milliseconds = Math.round((seconds * 1000) / names.length);
  const bounds = [String(seed), String(inputs), String(milliseconds)];
  const child = fork(program, ['fuzz', folder, ...bounds, ...targets], {
    execArgv: [`--max-old-space-size=${heapMebibytes}`],
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  let complaint = '';
  child.stderr?.on(
    'data',
    (chunk: Buffer) => (complaint = (complaint + String(chunk)).slice(-2000)),
  );
  let target: string | null = null;
  let silence = 'ended its process';
  const kill = () => {
    silence = `did not end within ${silenceMs / 1000} s`;
    child.kill('SIGKILL');
  };
  // Loading the program is no input's work, and may take long beside others.
  let timer: NodeJS.Timeout | undefined;
  child.on('message', (message: Report) => {
    clearTimeout(timer);
    timer = setTimeout(kill, silenceMs);
    if (message.type === 'begun') ({ target } = message);
    else if (message.type === 'finding' && message.kind === 'time') slow.push(message);
    else if (message.type === 'finding') find(message.target, message.message, message.file);
    else if (message.type === 'done') {
      target = null;
      const { cpu, bytes, suspects } = message;
      const worst = `slowest ${Math.round(cpu)} ms for ${Math.ceil(bytes / 1024)} KiB`;
      console.log(`  ${message.target}: ${message.inputs} inputs, ${worst}`);
      for (const each of suspects) suspected.push({ target: message.target, ...each });
    }
  });
  return new Promise((resolve) => {
    child.on('exit', (code) => {
      clearTimeout(timer);
      if (code === 0) return resolve(null);
      if (target === null) throw new Error(`the fuzzing process failed: ${complaint}`);
      blame(target, silence, keepCurrent(target));
      resolve(target);
    });
  });
}

/** The input that a process was given last. */
function keepCurrent(target: string): string {
  const bytes = readFileSync(join(folder, 'current'));
  const file = join(folder, `${target.replaceAll(/\W+/g, '-')}-fatal.txt`);
  writeFileSync(file, bytes.subarray(4, 4 + bytes.readUInt32LE()));
  return file;
}

function replay(target: string, file: string, heap: number) {
  return spawnSync(
    process.execPath,
    [`--max-old-space-size=${heap}`, '--max-semi-space-size=1', program, 'replay', file, target],
    { encoding: 'utf8', timeout: 2 * silenceMs, killSignal: 'SIGKILL' },
  );
}

/** A process ended or fell silent with this input: a finding when another one does not end well with it either. */
function blame(target: string, what: string, file: string): void {
  if (replay(target, file, heapMebibytes).status === 0) rmSync(file);
  else find(target, what, file);
}

/**
 * Tries slow inputs again, each in a process of its own: a machine that others use stops now and then, which is not
 * the input's fault.
 */
function timeSlow(): void {
  for (const { target, file, message } of slow) {
    const { status, stdout } = replay(target, file, heapMebibytes);
    if (status === 0 && !stdout.includes(' ms of CPU, allowed are ')) rmSync(file);
    else find(target, message, file);
  }
}

/** Variation in memory from loading the program and collecting garbage. */
const slackMebibytes = 16;

const leastHeaps = new Map<string, number>();

/** An input that does nothing: what a process needs for it, it needs for loading the program and for the samples. */
const nothing = join(folder, 'nothing');

/** The least heap in which a target takes its samples, in MiB; loading the program takes most of it. */
function leastHeap(target: string): number {
  const known = leastHeaps.get(target);
  if (known !== undefined) return known;
  const inUse = Number.parseInt(replay(target, nothing, heapMebibytes).stdout, 10);
  // Not measured: no heap is taken for too little.
  let heap = Number.isNaN(inUse) ? heapMebibytes : Math.ceil(inUse / mebibyte);
  while (heap < heapMebibytes && replay(target, nothing, heap).status !== 0) heap += 8;
  leastHeaps.set(target, heap);
  return heap;
}

/**
 * Tries inputs in processes whose heaps have no more room than the input may take. Whether one ends well depends on
 * when its collector ran, and on what else the machine does: a finding has to repeat itself, and each time another
 * process has to end well with the same heap and no input.
 */
function weighSuspects(): void {
  if (suspected.length === 0) return;
  writeFileSync(nothing, '');
  const worst = suspected.toSorted((a, b) => b.excess - a.excess);
  for (const [at, { target, file }] of worst.entries()) {
    const { isOperators } = fuzzTargets.find(({ name }) => name === target) ?? {};
    const room = memoryBound(readFileSync(file).length, isOperators) / mebibyte;
    const heap = () => Math.ceil(leastHeap(target) + slackMebibytes + room);
    let complaint = '';
    const isTooMuch = () => {
      const { status, signal, stderr } = replay(target, file, heap());
      complaint = `${signal ?? status}: ${stderr.split('\n').find((line) => line.includes('FATAL')) ?? stderr.slice(-200)}`;
      return status !== 0 && replay(target, nothing, heap()).status === 0;
    };
    if (at >= mostTried || !isTooMuch() || !isTooMuch() || !isTooMuch()) rmSync(file);
    else find(target, `more than ${Math.round(room)} MiB of heap (${complaint})`, file);
  }
  rmSync(nothing);
}

const extent = inputs > 0 ? `with ${inputs} inputs each` : `for ${seconds} s`;
console.log(`fuzzing ${names.length} targets ${extent}, seed ${seed}`);
for (let left = names; left.length > 0;) {
  const lost = await fuzz(left);
  left = lost === null ? [] : left.slice(left.indexOf(lost) + 1);
}
timeSlow();
weighSuspects();
if (findings.length === 0) {
  console.log('nothing found');
  rmSync(join(folder, 'current'), { force: true });
  if (readdirSync(folder).length === 0) rmSync(folder, { recursive: true });
} else {
  console.log(
    `${findings.length} found with SLUICE_FUZZ_SEED=${seed}; the inputs are in ${folder}`,
  );
  process.exitCode = 1;
}
