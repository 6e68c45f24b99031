import type { FoundMedia, StateStore } from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import { holdsMoreThan } from '#json/index.ts';
import type { functions } from './functions.ts';
import type { Reply, TextFunctionName, TextFunctions } from './text-functions.ts';
import { createThreadPool, type Running } from './thread-pool.ts';
import { ThreadFailure } from './thread.ts';
import { ownBytes, pack, unpack } from './transfer.ts';

/** Everything that threads can be asked for. */
type Functions = typeof functions & Pick<TextFunctions, TextFunctionName>;
type FunctionName = keyof Functions;
export type ArgsOf<Name extends FunctionName> = Parameters<Functions[Name]>[0];
export type ValueOf<Name extends FunctionName> = Awaited<ReturnType<Functions[Name]>>;

/** The initial data of every thread. */
export interface ThreadSeed {
  /** Of the owners' keys for state that clients keep. */
  readonly stateKey: Uint8Array;
}

/** One call, as a thread gets it. */
export interface Called {
  readonly name: FunctionName;
  readonly args: Lent;
  /** The calls of which the main thread remembers state; null: it may be any. */
  readonly remembered: readonly string[] | null;
}

/** What the thread holds: the body, and media that were fetched for it. */
export interface Lent {
  body: Buffer;
  media?: FoundMedia;
}

export interface BodyPoolOptions extends ThreadSeed {
  /** Maximum number of threads. */
  readonly size: number;
  /** Heap limit of a thread in MiB. */
  readonly heap: number;
  /** Time limit in milliseconds for a body of this size; `idle`: for a thread without work. Only tests set it. */
  readonly deadline?: (bytes: number) => number;
  readonly idle?: number;
  /** What is for a thread; only tests set it. */
  readonly weights?: Weights;
  readonly store: Pick<StateStore, 'find' | 'callsOf' | 'recall'>;
  /** Receives the error of a thread that died without having been given too much. */
  readonly onProblem: (error: unknown) => void;
}

/** Runs functions over large bodies in threads, so that they do not delay other requests. */
export interface BodyPool {
  /** What is done here instead. */
  readonly weights: Weights;
  /**
   * Its result is what the function returns or throws here.
   * @param key the id of the caller's key: keys take turns
   * @param args plain data. `body` and `media` are lent: they are set to what comes back, before the result is known
   * @param owner whose remembered state the function may need; null: none
   */
  run<Name extends FunctionName>(
    key: string,
    name: Name,
    args: ArgsOf<Name> & Lent,
    owner?: string | null,
  ): RunningCall<ValueOf<Name>>;
  close(): Promise<void>;
}

export interface RunningCall<Value> extends Pick<Running, 'cancel' | 'abandon'> {
  /**
   * @throws what the function throws; GatewayError `too_complex` or `unavailable` if the thread did not finish: then
   * what was lent is lost.
   */
  readonly result: Promise<Value>;
}

const idleMs = 30_000;

/** One second plus 100 ms per MiB: ten times what a body of many small values takes. */
function deadlineOf(bytes: number): number {
  return 1_000 + (bytes / 2 ** 20) * 100;
}

export function createBodyPool(options: BodyPoolOptions): BodyPool {
  const { stateKey, store, deadline = deadlineOf, idle = idleMs } = options;
  const { size, heap, onProblem, weights = usualWeights } = options;
  const pool = createThreadPool({
    file: new URL('./body.worker.ts', import.meta.url),
    name: 'sluice-bodies',
    workerData: { stateKey } satisfies ThreadSeed,
    size,
    heap,
    idle,
    onProblem,
  });

  const answer = async (owner: string, calls: readonly string[]) => {
    await store.recall?.(owner, calls);
    const reply: Reply = calls.flatMap((call) => {
      const keptState = store.find(owner, call);
      return keptState === null ? [] : [[call, keptState] as const];
    });
    return { message: reply, transfer: [] };
  };

  return {
    weights,
    run(key, name, args, owner = null) {
      const isAsked = owner !== null && store.recall !== undefined;
      const rememberedCalls = isAsked ? null : owner === null ? [] : store.callsOf(owner);
      const { media = new Map() } = args;
      const body = ownBytes(args.body);
      const threadCall = { name, args: { ...args, body }, remembered: rememberedCalls };
      let bytes = body.byteLength;
      for (const each of media.values()) bytes += each.bytes.byteLength;
      const { result, cancel, abandon } = pool.run(key, {
        handed: pack(threadCall, [body]),
        deadline: deadline(bytes),
        answer: (calls) => answer(owner ?? '', calls as readonly string[]),
      });
      const returning = result.then((message) => {
        const { lent, outcome } = unpack(message) as Returned<ValueOf<typeof name>>;
        Object.assign(args, lent);
        if ('error' in outcome) throw outcome.error;
        return outcome.value;
      }, throwRefusal);
      return { result: returning, cancel, abandon };
    },
    close: () => pool.close(),
  };
}

interface Returned<Value> {
  readonly lent: Lent;
  readonly outcome: { readonly value: Value } | { readonly error: unknown };
}

function throwRefusal(error: unknown): never {
  if (!(error instanceof ThreadFailure) || error.reason === 'defect') throw error;
  if (error.reason === 'ended') throw new GatewayError('unavailable', { cause: error });
  throw new GatewayError('too_complex', { cause: error });
}

/**
 * From which size on work is for a thread: below it, handing the body over costs the main thread more than the work.
 * Bytes, but for `mostValues`.
 */
export interface Weights {
  /** Of a request, to be read, and for whatever is done with it later. */
  readonly read: number;
  /**
   * A request with more members and values than this is read in a thread, however short. Each of them takes up to 2 µs
   * to convert or repair. An agent's 256 KiB hold a third as many.
   */
  readonly mostValues: number;
  /** Of a request, or of what was fetched for it, to be converted. */
  readonly conversion: number;
  /** Of a complete response. */
  readonly response: number;
}

/** Complete responses of at least this many bytes are read in a thread. */
export const largeResponse = 256 * 1024;

export const usualWeights: Weights = Object.freeze({
  read: 1024 * 1024,
  mostValues: 10_000,
  conversion: 256 * 1024,
  response: largeResponse,
});

/** Whether a request's body is read in a thread. */
export function isReadInThread(body: Buffer, { read, mostValues }: Weights): boolean {
  return body.length >= read || holdsMoreThan(body, mostValues);
}
