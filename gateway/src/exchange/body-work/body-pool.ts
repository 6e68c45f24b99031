import { GatewayError } from '#errors/index.ts';
import type { FoundMedia, StateStore } from '#conversion/index.ts';
import type { Job, JobResult, JobValues, PlainMedia, Question, Reply, ThreadSeed } from './jobs.ts';
import type { Handed } from './messages.ts';
import { asBuffer, ownBytes } from './bytes.ts';
import { errorOf } from './plain-error.ts';
import { ThreadFailure } from './thread-failure.ts';
import { createThreadPool, type Running } from './thread-pool.ts';

export interface BodyPoolOptions extends ThreadSeed {
  /** Maximum number of threads. */
  readonly size: number;
  /** Heap limit of a thread in MiB. */
  readonly heap: number;
  /** Time limit in milliseconds for a body of this size; `idle`: for a thread without work. Only tests set it. */
  readonly deadline?: (bytes: number) => number;
  readonly idle?: number;
  readonly store: Pick<StateStore, 'find' | 'callsOf' | 'recall'>;
  /** Receives the error of a thread that died without having been given too much. */
  readonly onProblem: (error: unknown) => void;
}

/** Reads, patches and converts large bodies in threads, so that they do not delay other requests. */
export interface BodyPool {
  /**
   * @param key the id of the caller's key: keys take turns
   * @param job its body and media are transferred, and returned with the result
   */
  run<Kind extends Job['kind']>(key: string, job: JobOf<Kind>): RunningJob<JobValues[Kind]>;
  close(): Promise<void>;
}

type JobOf<Kind> = Kind extends 'convert' | 'patch'
  ? Omit<Extract<Job, { kind: Kind }>, 'remembered'>
  : Extract<Job, { kind: Kind }>;

export interface RunningJob<Value> extends Pick<Running, 'cancel' | 'abandon'> {
  /**
   * The body, the media and the result of the job.
   * @throws GatewayError `too_complex` or `unavailable` if the thread did not finish; then the body is lost.
   */
  readonly result: Promise<{
    readonly body: Buffer;
    readonly media: FoundMedia;
    readonly outcome: { readonly value: Value } | { readonly error: Error };
  }>;
}

const idleMs = 30_000;

/** One second plus 100 ms per MiB: ten times what a body of many small values takes. */
function deadlineOf(bytes: number): number {
  return 1_000 + (bytes / 2 ** 20) * 100;
}

export function createBodyPool(options: BodyPoolOptions): BodyPool {
  const { stateKey, store, deadline = deadlineOf, idle = idleMs } = options;
  const { size, heap, onProblem } = options;
  const pool = createThreadPool({
    file: new URL('./body.worker.ts', import.meta.url),
    name: 'sluice-bodies',
    workerData: { stateKey } satisfies ThreadSeed,
    size,
    heap,
    idle,
    onProblem,
  });

  const answer = async (owner: string, { calls }: Question): Promise<Handed<Reply>> => {
    await store.recall?.(owner, calls);
    const found = calls.flatMap((call) => {
      const kept = store.find(owner, call);
      return kept === null ? [] : [[call, kept] as const];
    });
    return { message: found, transfer: [] };
  };

  return {
    run(key, job) {
      const body = ownBytes(job.body);
      const owner = ownerOfState(job);
      const isAsked = owner !== null && store.recall !== undefined;
      const remembered = isAsked ? null : owner === null ? [] : store.callsOf(owner);
      const media = job.kind === 'convert' ? job.media.map(own) : [];
      const whole = { ...job, body, media, remembered };
      const handed = [body, ...media.map(([, { bytes }]) => bytes)];
      const size = handed.reduce((sum, { byteLength }) => sum + byteLength, 0);
      const { result, cancel, abandon } = pool.run(key, {
        handed: { message: whole, transfer: handed.map(({ buffer }) => buffer as ArrayBuffer) },
        deadline: deadline(size),
        answer: (question) => answer(owner ?? '', question as Question),
      });
      return { result: result.then(received, refused), cancel, abandon };
    },
    close: () => pool.close(),
  };
}

/** Whose state the job may ask for; null if it asks for none. */
function ownerOfState(job: JobOf<Job['kind']>): string | null {
  if (job.kind === 'convert') return job.converted.owner;
  return job.kind === 'patch' && job.maker !== null ? job.owner : null;
}

function received(result: unknown) {
  const { body: bytes, media: plain, outcome } = result as JobResult;
  const body = asBuffer(bytes);
  const media = new Map(
    plain.map(([url, { mime, bytes }]) => [url, { mime, bytes: asBuffer(bytes) }]),
  );
  if ('error' in outcome) return { body, media, outcome: { error: errorOf(outcome.error) } };
  const { value } = outcome;
  // The kind of the job determines the kind of its value.
  const whole = 'body' in value ? { ...value, body: asBuffer(value.body) } : value;
  return { body, media, outcome: { value: whole as never } };
}

function refused(error: unknown): never {
  if (!(error instanceof ThreadFailure) || error.reason === 'defect') throw error;
  if (error.reason === 'ended') throw new GatewayError('unavailable', { cause: error });
  throw new GatewayError('too_complex', { cause: error });
}

function own([url, { mime, bytes }]: PlainMedia[number]): PlainMedia[number] {
  return [url, { mime, bytes: ownBytes(bytes) }];
}
