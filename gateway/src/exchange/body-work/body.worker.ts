import { randomBytes } from 'node:crypto';
import { getHeapStatistics } from 'node:v8';
import { parentPort, workerData, type Transferable } from 'node:worker_threads';
import { createStateSealer } from '#conversion/index.ts';
import type { Job, JobResult, Question, Reply, ThreadSeed } from './jobs.ts';
import type { FromThread, ToThread } from './messages.ts';
import { ownBytes } from './bytes.ts';
import { collectGarbage } from './collect-garbage.ts';
import { createPerformer } from './perform.ts';
import { plainError } from './plain-error.ts';

/**
 * After this many milliseconds without work the last request is forgotten: jobs of an exchange follow each other at
 * once.
 */
const forgetMs = 2_000;

/**
 * Above this many bytes of values, the thread collects its garbage after a job. Otherwise the heap would grow to
 * several times what a large body needs, because its limit is far away, while the process has less memory than that.
 */
const collectAbove = 96 * 1024 * 1024;

const { stateKey } = workerData as ThreadSeed;
/** Of the only question under way. */
let resolveReply: (reply: Reply) => void = () => {};
let forgetting: NodeJS.Timeout | undefined;

const performer = createPerformer(
  createStateSealer(stateKey, randomBytes),
  (question: Question) =>
    new Promise<Reply>((resolve) => {
      resolveReply = resolve;
      tell({ kind: 'question', question }, []);
    }),
);

parentPort?.on('message', (message: ToThread) => {
  if (message.kind === 'reply') resolveReply(message.reply as Reply);
  else void perform(message.task as Job);
});
tell({ kind: 'ready' }, []);

async function perform(job: Job): Promise<void> {
  clearTimeout(forgetting);
  const result = await resultOf(job);
  const handed = [result.body, ...result.media.map(([, { bytes }]) => bytes)];
  const transfer = handed.map(({ buffer }) => buffer as ArrayBuffer);
  const made = bodyOf(result);
  if (made !== null && !result.isSameBody) transfer.push(made.buffer as ArrayBuffer);
  tell({ kind: 'done', result }, transfer);
  forgetting = setTimeout(performer.forget, forgetMs).unref();
  if (getHeapStatistics().used_heap_size > collectAbove) collectGarbage();
}

async function resultOf(job: Job): Promise<JobResult> {
  const { body } = job;
  const media = job.kind === 'convert' ? job.media : [];
  try {
    const value = await performer.perform(job);
    if (!('body' in value)) return { body, media, outcome: { value }, isSameBody: false };
    const isSameBody = value.body.buffer === body.buffer;
    return {
      body,
      media,
      outcome: { value: { ...value, body: ownBytes(value.body) } },
      isSameBody,
    };
  } catch (error) {
    return { body, media, outcome: { error: plainError(error) }, isSameBody: false };
  }
}

function bodyOf({ outcome }: JobResult): Uint8Array | null {
  return 'value' in outcome && 'body' in outcome.value ? outcome.value.body : null;
}

function tell(message: FromThread, transfer: Transferable[]): void {
  parentPort?.postMessage(message, transfer);
}
