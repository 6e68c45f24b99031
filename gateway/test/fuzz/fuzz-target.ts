import { mutateBytes } from './mutate-bytes.ts';
import { mutateJson } from './mutate-json.ts';
import { attempt, memoryBound, type Finding, type Trial } from './oracle.ts';
import { createRandom, seedOf, type Random } from './random.ts';
import type { FuzzTarget } from './target.ts';

export interface FuzzOptions {
  readonly seed: number;
  /** Whether half of the inputs come from those that took most time or memory: then they differ from run to run. */
  readonly isGuided: boolean;
  /** Ends after this many inputs, or earlier if `isOver` returns true. */
  readonly inputs: number;
  isOver(): boolean;
  /** Just before an input is given: it may never end. */
  onInput(input: Buffer): void;
  onFinding(finding: Finding, input: Buffer): void;
}

export interface Suspect {
  readonly input: Buffer;
  /** Allocated memory as a multiple of the allowed memory. */
  readonly excess: number;
}

export interface FuzzResult {
  readonly inputs: number;
  /** CPU time that the slowest input took, in milliseconds, and its length in bytes. */
  readonly slowest: { readonly cpu: number; readonly bytes: number };
  /** Inputs that may have taken too much memory, the worst first: to be tried again under a limit of the heap. */
  readonly suspects: readonly Suspect[];
}

const kibibyte = 1024;
/** How long inputs get, in bytes; short ones more often, since they are faster to try. */
const lengths = [1, 2, 4, 8, 16, 32, 64, 64, 64, 256, 1024].map((size) => size * kibibyte);
const mostSuspects = 2;
const mostKept = 48;

/** Gives a target its samples, then what becomes of them by mutation. */
export async function fuzzTarget(target: FuzzTarget, options: FuzzOptions): Promise<FuzzResult> {
  const own = options.seed ^ seedOf(Buffer.from(target.name));
  // Inputs that depend on the clock have random numbers of their own, so that the other half is the same for the same
  // seed.
  const [fresh, guided] = [createRandom(own), createRandom(own + 1)];
  const pool = new Pool(target);
  let slowest = { cpu: 0, bytes: 0 };
  let suspects: Suspect[] = [];
  const found = new Set<string>();
  let count = 0;
  for (; count < options.inputs && !options.isOver(); count += 1) {
    const input =
      target.samples[count] ??
      (options.isGuided && count % 2 === 0 ? pool.next(guided) : mutated(fresh, target, null));
    options.onInput(input);
    const trial = await attempt(target, input);
    if (trial.cpu > slowest.cpu) slowest = { cpu: trial.cpu, bytes: input.length };
    const excess = trial.allocated / memoryBound(input.length, target.isOperators);
    if (excess > 1) {
      suspects.push({ input, excess });
      suspects = suspects.toSorted((a, b) => b.excess - a.excess).slice(0, mostSuspects);
    }
    if (trial.finding === null) pool.consider(input, trial);
    // One of each is enough, and what is slow is not to be looked for again.
    else if (!found.has(signature(trial.finding))) {
      found.add(signature(trial.finding));
      options.onFinding(trial.finding, input);
    }
  }
  return { inputs: count, slowest, suspects };
}

/** Findings with the same one are shown once: the kind, and where an error was thrown. */
function signature({ kind, message }: Finding): string {
  return kind === 'error' ? message.replaceAll(/\d+/g, '0').slice(0, 300) : kind;
}

/** @param base null: one of the samples. */
function mutated(random: Random, { samples, isJson }: FuzzTarget, base: Buffer | null): Buffer {
  const longest = random.pick(lengths);
  const input = base ?? random.pick(samples);
  if (isJson && !random.oneIn(3)) {
    return Buffer.from(mutateJson(random, String(input), String(random.pick(samples)), longest));
  }
  return mutateBytes(random, input, samples, longest);
}

/** Inputs that took most time or memory for their length: where slowness begins, more of the same makes it show. */
class Pool {
  readonly #target: FuzzTarget;
  #kept: { input: Buffer; cost: number }[] = [];

  constructor(target: FuzzTarget) {
    this.#target = target;
  }

  next(random: Random): Buffer {
    return mutated(
      random,
      this.#target,
      this.#kept.length > 0 ? random.pick(this.#kept).input : null,
    );
  }

  consider(input: Buffer, { cpu, allocated }: Trial): void {
    const cost = (cpu + allocated / 1e6) / (input.length + 2048);
    const last = this.#kept.at(-1);
    if (this.#kept.length === mostKept && cost <= (last?.cost ?? 0)) return;
    this.#kept = [...this.#kept, { input, cost }]
      .toSorted((a, b) => b.cost - a.cost)
      .slice(0, mostKept);
  }
}
