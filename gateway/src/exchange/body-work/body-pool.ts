import { GatewayError } from '#errors/index.ts';
import type { FetchMedia, StateStore } from '#conversion/index.ts';
import type { Job, JobResult, JobValues, Question, Replies, ThreadSeed } from './jobs.ts';
import type { Handed } from './messages.ts';
import { asBuffer, ownBytes } from './bytes.ts';
import { errorOf, plainError } from './plain-error.ts';
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
  readonly fetchMedia: FetchMedia;
  readonly store: Pick<StateStore, 'find' | 'callsOf'>;
  /** Receives the error of a thread that died without having been given too much. */
  readonly onProblem: (error: unknown) => void;
}

/** Reads, patches and converts large bodies in threads, so that they do not delay other requests. */
export interface BodyPool {
  /**
   * @param key the id of the caller's key: keys take turns
   * @param job its body is transferred, and returned with the result
   */
  run<Kind extends Job['kind']>(key: string, job: JobOf<Kind>): RunningJob<JobValues[Kind]>;
  close(): Promise<void>;
}

type JobOf<Kind> = Kind extends 'convert'
  ? Omit<Extract<Job, { kind: 'convert' }>, 'remembered'>
  : Extract<Job, { kind: Kind }>;

export interface RunningJob<Value> extends Pick<Running, 'cancel' | 'abandon'> {
  /**
   * The body and the result of the job.
   * @throws GatewayError `too_complex` or `unavailable` if the thread did not finish; then the body is lost.
   */
  readonly result: Promise<{
    readonly body: Buffer;
    readonly outcome: { readonly value: Value } | { readonly error: Error };
  }>;
}

const idleMs = 30_000;

/** One second plus 100 ms per MiB: ten times what a body of many small values takes. */
function deadlineOf(bytes: number): number {
  return 1_000 + (bytes / 2 ** 20) * 100;
}

export function createBodyPool(options: BodyPoolOptions): BodyPool {
  const { stateKeys, fetchMedia, store, deadline = deadlineOf, idle = idleMs } = options;
  const { size, heap, onProblem } = options;
  const pool = createThreadPool({
    file: new URL('./body.worker.ts', import.meta.url),
    name: 'sluice-bodies',
    workerData: { stateKeys } satisfies ThreadSeed,
    size,
    heap,
    idle,
    onProblem,
  });

  const answer = async (
    owner: string,
    question: Question,
  ): Promise<Handed<Replies[Question['kind']]>> => {
    if (question.kind === 'media') return fetchFor(fetchMedia, question.url);
    const found = question.calls.flatMap((call) => {
      const kept = store.find(owner, call);
      return kept === null ? [] : [[call, kept] as const];
    });
    return { message: found, transfer: [] };
  };

  return {
    run(key, job) {
      const body = ownBytes(job.body);
      const owner = job.kind === 'convert' ? job.converted.owner : '';
      const remembered = job.kind === 'convert' ? store.callsOf(owner) : [];
      const whole = { ...job, body, remembered };
      const { result, cancel, abandon } = pool.run(key, {
        handed: { message: whole, transfer: [body.buffer as ArrayBuffer] },
        deadline: deadline(body.byteLength),
        answer: (question) => answer(owner, question as Question),
      });
      return { result: result.then(received, refused), cancel, abandon };
    },
    close: () => pool.close(),
  };
}

function received(result: unknown) {
  const { body, outcome } = result as JobResult;
  const own = asBuffer(body);
  if ('error' in outcome) return { body: own, outcome: { error: errorOf(outcome.error) } };
  const { value } = outcome;
  // The kind of the job determines the kind of its value.
  const whole = 'body' in value ? { ...value, body: asBuffer(value.body) } : value;
  return { body: own, outcome: { value: whole as never } };
}

function refused(error: unknown): never {
  if (!(error instanceof ThreadFailure) || error.reason === 'defect') throw error;
  if (error.reason === 'ended') throw new GatewayError('unavailable', { cause: error });
  throw new GatewayError('too_complex', { cause: error });
}

async function fetchFor(fetchMedia: FetchMedia, url: string): Promise<Handed<Replies['media']>> {
  try {
    const { mime, bytes } = await fetchMedia(url);
    const own = ownBytes(bytes);
    return { message: { mime, bytes: own }, transfer: [own.buffer as ArrayBuffer] };
  } catch (error) {
    return { message: { error: plainError(error) }, transfer: [] };
  }
}
