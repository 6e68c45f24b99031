import { randomUUID } from 'node:crypto';
import type { Link, Replies, Reply } from './link.ts';
import { scripts, type Step } from './scripts.ts';

/**
 * Takes part in what Redis counts. Each batch names the epoch of the data, its own number, and the number of the last
 * one with a reply: a Redis that has lost some of them says so, and one that comes after a later one does nothing.
 */
export interface Asking {
  /**
   * Runs a step. Rejects if Redis has lost data, is too late, or fails; then it is unknown whether the step took
   * effect.
   */
  ask(step: Step, keys: readonly string[], values: readonly string[]): Promise<Reply>;
  /** Call it before anything is asked: on a new connection, after a slow reply, and after `onLost`. */
  enter(): Promise<'known' | 'lost'>;
}

export interface AskingOptions {
  readonly run: Link['run'];
  readonly prefix: string;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** A clock in microseconds, for tests; null: Redis's own clock. */
  readonly serverTime: (() => number) | null;
  /** Milliseconds. Redis does nothing for a batch that it takes later. */
  readonly commandTimeoutMs: number;
  /** Redis has lost data that this node knows of. */
  readonly onLost: () => void;
}

/** Redis does nothing else during a batch, so a batch must end within a few milliseconds. */
const mostSteps = 100;
const mostValues = 5_000;

interface Batch {
  readonly keys: string[];
  readonly values: string[];
  readonly pendingReplies: PromiseWithResolvers<Reply>[];
}

/** Steps whose result is not awaited. */
const ends: ReadonlySet<Step> = new Set(['leave']);

/**
 * Sends all steps of one turn of the event loop to Redis together, in order, as one script: most of a step's cost is
 * the round trip. Ends also wait while another batch is in flight and go in front of the next steps, so a later step
 * sees them done.
 */
export function createAsking(options: AskingOptions): Asking {
  const { run, prefix, monotonic, serverTime, commandTimeoutMs, onLost } = options;
  const ownKeys = [`${prefix}epoch`, `${prefix}node:${randomUUID()}`];
  let epoch = '';
  let sentCount = 0;
  let answeredCount = 0;
  /** Microseconds by which Redis's clock is ahead of the monotonic one, at most; null: not known yet. */
  let ahead: number | null = null;
  let batch: Batch | null = null;
  let isDue = false;
  let onTheWay = 0;

  const time = (): string => (serverTime === null ? '' : String(serverTime()));

  const latest = (now: number): string =>
    ahead === null ? '' : String(Math.ceil(ahead + (now + commandTimeoutMs) * 1_000));

  /** A reply that was asked for at this moment says what Redis's clock shows. */
  const hear = (serverTime: unknown, at: number): void => {
    ahead = Number(serverTime) - at * 1_000;
  };

  const send = (): void => {
    isDue = false;
    if (batch === null) return;
    const { keys, values, pendingReplies } = batch;
    batch = null;
    onTheWay += 1;
    const number = (sentCount += 1);
    const at = monotonic();
    const head = [epoch, String(number), String(answeredCount), latest(at), time()];
    run(scripts.batch, [...ownKeys, ...keys], [...head, ...values]).then(
      ([word, serverTime, ...replies]) => {
        hear(serverTime, at);
        if (word === 'done') answeredCount = Math.max(answeredCount, number);
        onReply();
        if (word === 'done') settle(pendingReplies, replies);
        else fail(pendingReplies, new Error(`Redis did not take it: ${String(word)}`));
        if (word === 'lost') onLost();
      },
      (error: unknown) => {
        onReply();
        fail(pendingReplies, error);
      },
    );
  };

  const onReply = (): void => {
    onTheWay -= 1;
    if (!isDue) send();
  };

  return {
    ask(step, keys, values) {
      batch ??= { keys: [], values: [], pendingReplies: [] };
      batch.keys.push(...keys);
      batch.values.push(step, String(keys.length), String(values.length), ...values);
      const pendingReply = Promise.withResolvers<Reply>();
      batch.pendingReplies.push(pendingReply);
      if (batch.pendingReplies.length >= mostSteps || batch.values.length >= mostValues) send();
      else if (!isDue && (onTheWay === 0 || !ends.has(step))) {
        isDue = true;
        setImmediate(send);
      }
      return pendingReply.promise;
    },
    async enter() {
      // What was asked before goes before: it must not be sent behind a number that is larger than its own.
      send();
      const number = (sentCount += 1);
      const at = monotonic();
      const values = [epoch, String(number), String(answeredCount), randomUUID(), time()];
      const [found, serverTime] = await run(scripts.enter, ownKeys, values);
      if (found === undefined) throw new Error('Redis has heard of a later connection');
      hear(serverTime, at);
      answeredCount = Math.max(answeredCount, number);
      const isLost = epoch !== '' && epoch !== found;
      epoch = String(found);
      return isLost ? 'lost' : 'known';
    },
  };
}

function settle(questions: Batch['pendingReplies'], replies: Replies): void {
  for (const [at, { resolve, reject }] of questions.entries()) {
    const reply = replies[at];
    if (reply instanceof Error) reject(reply);
    else resolve(reply as Reply);
  }
}

function fail(questions: Batch['pendingReplies'], error: unknown): void {
  for (const { reject } of questions) reject(error);
}
