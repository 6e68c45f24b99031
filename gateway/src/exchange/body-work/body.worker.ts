import { randomBytes } from 'node:crypto';
import { getHeapStatistics } from 'node:v8';
import { parentPort, workerData, type Transferable } from 'node:worker_threads';
import { createStateSealer } from '#conversion/index.ts';
import type { Called, Lent, ThreadSeed } from './body-pool.ts';
import { collectGarbage } from './collect-garbage.ts';
import { functions } from './functions.ts';
import { TextFunctions, type Reply, type TextFunctionName } from './text-functions.ts';
import type { FromThread, ToThread } from './thread.ts';
import { pack, unpack } from './transfer.ts';

/**
 * After this many milliseconds without work the last request is forgotten: calls of an exchange follow each other at
 * once.
 */
const forgetMs = 2_000;

/**
 * Above this many bytes of values, the thread collects its garbage after a call. Otherwise the heap would grow to
 * several times what a large body needs, because its limit is far away, while the process has less memory than that.
 */
const collectAbove = 96 * 1024 * 1024;

const { stateKey } = workerData as ThreadSeed;
/** Of the only question under way. */
let resolveReply: (reply: Reply) => void = () => {};
let forgetting: NodeJS.Timeout | undefined;

const text = new TextFunctions(
  createStateSealer(stateKey, randomBytes),
  (calls) =>
    new Promise<Reply>((resolve) => {
      resolveReply = resolve;
      tell({ kind: 'question', question: calls });
    }),
);

parentPort?.on('message', (message: ToThread) => {
  if (message.kind === 'reply') resolveReply(message.reply as Reply);
  else void perform(unpack(message.task) as Called);
});
tell({ kind: 'ready' });

async function perform({ name, args, remembered }: Called): Promise<void> {
  clearTimeout(forgetting);
  text.inMain = remembered === null ? null : new Set(remembered);
  const { body, media } = args;
  const lentBytes: Lent = media === undefined ? { body } : { body, media };
  const bytes = [body, ...Array.from(media?.values() ?? [], (each) => each.bytes)];
  const outcome = await outcomeOf(name, args);
  const { message, transfer } = pack({ lent: lentBytes, outcome }, bytes);
  tell({ kind: 'done', result: message }, transfer);
  forgetting = setTimeout(() => text.forget(), forgetMs).unref();
  if (getHeapStatistics().used_heap_size > collectAbove) collectGarbage();
}

async function outcomeOf(name: Called['name'], args: Called['args']): Promise<object> {
  try {
    // The name determines the type of the arguments.
    const value: unknown = await (name in functions
      ? functions[name as keyof typeof functions](args as never)
      : text[name as TextFunctionName](args as never));
    return { value };
  } catch (error) {
    return { error };
  }
}

function tell(message: FromThread, transfer: Transferable[] = []): void {
  parentPort?.postMessage(message, transfer);
}
