import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { GatewayError } from '../errors/index.ts';
import { createGroupCommit } from './group-commit.ts';
import type {
  ApplierSettings,
  FromApplier,
  FromWriter,
  ToApplier,
  ToWriter,
  WriterSettings,
} from './messages.ts';
import type { Journal } from './record.ts';
import { toLine } from './record-line.ts';

export interface JournalOptions {
  readonly dataDir: string;
  /** Bytes of records that may wait for the database. */
  readonly maxSize: number;
  readonly databaseUrl: string;
  /** Milliseconds for which usage rows are kept in the database; default: for ever. */
  readonly keepUsage?: number;
  /** Told what an operator should know; the journal goes on by itself. */
  readonly onProblem?: (problem: JournalProblem) => void;
}

export interface JournalProblem {
  readonly kind:
    | 'write-failed'
    | 'database-away'
    | 'record-rejected'
    | 'rows-not-removed'
    | 'worker-ended';
  readonly message: string;
}

/** Kept for the answers that are under way when the bound is reached: they still get their record. */
const reserve = 16 * 2 ** 20;

/**
 * Opens the journal of this folder; what an earlier process left in it is applied first.
 * @throws Error when another process has it open, or the folder cannot be written.
 */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { dataDir, databaseUrl, maxSize } = options;
  const problem = (kind: JournalProblem['kind'], message: string) =>
    options.onProblem?.({ kind, message });
  const rejection = (reason: string) =>
    new GatewayError('unavailable', { cause: new Error(`journal: ${reason}`) });

  const writer = startWorker('writer', { dataDir } satisfies WriterSettings);
  const opened = await firstMessage(writer);
  if (opened.kind !== 'opened') {
    await writer.terminate();
    throw new Error(opened.kind === 'refused' ? opened.message : 'the journal did not open');
  }
  const applier = startWorker('applier', {
    dataDir,
    databaseUrl,
    keepUsage: options.keepUsage ?? null,
  } satisfies ApplierSettings);

  let { count: depth, bytes } = opened;
  /** A moment, and how many of the records that were on disk then are not in the database yet. */
  let mark = { at: performance.now(), left: opened.count };
  let appliedUntil = -Infinity;
  const caughtUp = Promise.withResolvers<void>();
  if (mark.left === 0) caughtUp.resolve();
  let sent = { count: 0, bytes: 0 };
  let closing: Promise<void> | null = null;
  const post = (message: ToWriter) => writer.postMessage(message);
  const commits = createGroupCommit({
    send(lines, count) {
      sent = { count, bytes: lines.length };
      post({ kind: 'commit', lines, count });
    },
    probe() {
      sent = { count: 0, bytes: 0 };
      post({ kind: 'probe' });
    },
    now: () => performance.now(),
    schedule(run, milliseconds) {
      setTimeout(run, milliseconds);
    },
    rejection,
  });

  writer.on('message', (message: FromWriter) => {
    if (message.kind === 'done') {
      depth += sent.count;
      bytes += sent.bytes;
      sent = { count: 0, bytes: 0 };
      commits.done();
    } else if (message.kind === 'failed') {
      problem('write-failed', message.message);
      commits.failed(message.message);
    }
  });
  applier.on('message', (message: FromApplier) => {
    if (message.kind === 'applied') {
      depth -= message.count;
      bytes -= message.bytes;
      // Batches are applied in order: those of the process before come first.
      mark.left -= message.count;
      if (mark.left <= 0) {
        caughtUp.resolve();
        appliedUntil = mark.at;
        mark = { at: performance.now(), left: depth };
      }
      post({ kind: 'remove', upTo: message.upTo });
    } else if (message.kind === 'away') {
      problem('database-away', message.message);
    } else if (message.kind === 'rejected') {
      problem('record-rejected', message.message);
    } else if (message.kind === 'not-removed') {
      problem('rows-not-removed', message.message);
    }
  });
  const ended = (name: string) => (error?: unknown) => {
    if (closing !== null) return;
    const message = `the ${name} ended: ${error instanceof Error ? error.message : 'without a reason'}`;
    problem('worker-ended', message);
    commits.end(message);
  };
  for (const event of ['error', 'exit']) {
    writer.on(event, ended('journal writer'));
    applier.on(event, ended('journal applier'));
  }

  async function close(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!commits.idle && performance.now() < deadline) await wait(2);
    commits.end('the gateway is stopping');
    const drained = messageOf(applier, 'drained');
    applier.postMessage({ kind: 'drain' } satisfies ToApplier);
    await Promise.race([drained, atMost(deadline - performance.now())]);
    await applier.terminate();
    const closed = messageOf(writer, 'closed');
    post({ kind: 'close' });
    await Promise.race([closed, atMost(1_000)]);
    await writer.terminate();
  }

  return {
    append(record) {
      const line = toLine(record);
      if (bytes + line.length > maxSize) return Promise.reject(rejection('full'));
      return commits.append(line);
    },
    get usable() {
      return commits.broken === null && bytes < maxSize - Math.min(reserve, maxSize / 10);
    },
    get depth() {
      // The applier may report a batch before the writer's own answer has been read.
      return Math.max(depth, 0);
    },
    caughtUp: caughtUp.promise,
    get appliedUntil() {
      return depth <= 0 ? performance.now() : appliedUntil;
    },
    close: (timeoutMs = 5_000) => (closing ??= close(timeoutMs)),
  };
}

function startWorker(name: 'writer' | 'applier', workerData: WriterSettings | ApplierSettings) {
  return new Worker(new URL(`./${name}.worker.ts`, import.meta.url), {
    workerData,
    name: `sluice-journal-${name}`,
  });
}

/** Does not keep the process alive: the workers do, for as long as they are waited for. */
function atMost(milliseconds: number): Promise<void> {
  return wait(Math.max(milliseconds, 0), undefined, { ref: false });
}

async function firstMessage(writer: Worker): Promise<FromWriter> {
  const [message] = (await once(writer, 'message')) as [FromWriter];
  return message;
}

function messageOf(worker: Worker, kind: string): Promise<void> {
  return new Promise((resolve) => {
    worker.on('message', (message: { kind: string }) => {
      if (message.kind === kind) resolve();
    });
    worker.on('exit', () => resolve());
  });
}
