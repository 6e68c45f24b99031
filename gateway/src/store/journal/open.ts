import { setTimeout as wait } from 'node:timers/promises';
import { createTrouble, formatUsd } from '#database/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { LeasedPart } from '#leases/index.ts';
import { lineVersion, toLine, type ExchangeRecord } from '#usage/index.ts';
import { createBacklog } from './backlog.ts';
import { createGroupCommit } from './group-commit.ts';
import type {
  ApplierSettings,
  FromApplier,
  FromWriter,
  ToApplier,
  ToWriter,
  WriterSettings,
} from './messages.ts';
import { createOpenIntents } from './intents.ts';
import type { Journal } from './journal.ts';
import { createKeptLines } from './kept-lines.ts';
import type { Loss } from './read-on.ts';
import { startThread } from './thread.ts';

export interface JournalOptions {
  readonly dataDir: string;
  /** The node that the journal belongs to, for the note of a loss; default: the folder. */
  readonly node?: string;
  /** Bytes of records that may wait for the database. */
  readonly maxSize: number;
  readonly databaseUrl: string;
  /** Milliseconds for which usage rows are kept in the database; default: forever. */
  readonly keepUsage?: number;
  /** Milliseconds for which applied records stay in the journal, as far as there is room; default: 10 minutes. */
  readonly replay?: number;
  /** Whether `spentWithLeftOver` is wanted. */
  readonly findsSpent?: boolean;
  /** Milliseconds between looks at a journal with nothing new to apply; default: 100. */
  readonly lookEvery?: number | undefined;
  /** Receives problems for the operator; the journal itself continues. */
  readonly onProblem?: (problem: JournalProblem) => void;
  /** Called when the database has noted a loss. */
  readonly onLoss?: (() => void) | undefined;
  /** Called when such a problem, which is reported once, has ended. */
  readonly onRecovery?: (kind: 'write-failed' | 'database-away') => void;
}

export interface JournalProblem {
  readonly kind:
    | 'write-failed'
    | 'database-away'
    | 'record-rejected'
    | 'charges-late'
    | 'records-replayed'
    | 'rows-not-removed'
    | 'database-not-durable'
    | 'attempts-unfinished'
    | 'records-lost'
    | 'records-missing'
    | 'worker-ended';
  readonly message: string;
}

/** Reserved for responses in flight when the limit is reached: their charges still get a record. */
const reserve = 16 * 2 ** 20;

/** Milliseconds. */
const intentInterval = 250;

/** Applied records take no more. */
const mostApplied = 64 * 2 ** 20;

/** Characters of records that may wait in memory for the disk: some ten thousand records. */
const mostKept = 4 * 2 ** 20;

/**
 * Opens the journal of this folder; records of an earlier process are applied first.
 * @throws Error if another process has it open, or the folder is not writable.
 */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { dataDir, node = dataDir, databaseUrl, maxSize, replay = 600_000 } = options;
  const keep = { time: replay, bytes: mostApplied };
  const problem = (kind: JournalProblem['kind'], message: string) =>
    options.onProblem?.({ kind, message });
  const lasting = (kind: 'write-failed' | 'database-away') =>
    createTrouble(
      (message) => problem(kind, message),
      () => options.onRecovery?.(kind),
    );
  const disk = lasting('write-failed');
  const away = lasting('database-away');
  const rejection = (reason: string) =>
    new GatewayError('unavailable', { cause: new Error(`journal: ${reason}`) });

  const now = () => performance.now();
  const backlog = createBacklog(now);
  let sent = { count: 0, bytes: 0 };
  /** A reply of the writer is pending. */
  let awaited = false;
  let wasOpen = false;
  let leftBehind = 0;
  let closing: Promise<void> | null = null;
  /** Without the reserve. */
  const usualSize = maxSize - Math.min(reserve, maxSize / 10);
  const kept = createKeptLines(mostKept);
  const intents = createOpenIntents();
  let onRejected: (leased: readonly LeasedPart[]) => void = () => {};
  let replaying: PromiseWithResolvers<void> | null = null;
  let unfinished = 0;
  let lost = 0;

  function give(message: ToWriter): void {
    awaited = writer.post(message);
    // Like a failed write, but later, when a reply would arrive.
    if (!awaited) queueMicrotask(() => commits.failed('the journal writer is not running'));
  }
  const commits = createGroupCommit({
    send(lines, count) {
      const text = intents.take(now());
      sent = { count, bytes: lines.length + (text?.length ?? 0) };
      give({ kind: 'commit', lines, count, intents: text });
    },
    probe() {
      sent = { count: 0, bytes: 0 };
      give({ kind: 'probe' });
    },
    defer: setImmediate,
    schedule(run, milliseconds) {
      setTimeout(run, milliseconds);
    },
    rejection,
  });
  function notWritten(reason: string): void {
    awaited = false;
    commits.failed(reason);
  }

  const spent = Promise.withResolvers<ReadonlyMap<string, bigint>>();
  const opened = Promise.withResolvers<void>();
  /** Has no effect once the journal was open: then another attempt follows. */
  function failOpening(reason: string): void {
    if (wasOpen || closing !== null) return;
    closing = writer.end({ kind: 'close' }, 0);
    opened.reject(new Error(reason));
  }
  const writer = startThread<ToWriter, FromWriter>({
    name: 'writer',
    settings() {
      backlog.recount();
      const applied = backlog.appliedPlace;
      return { dataDir, applied, lineVersion, keep } satisfies WriterSettings;
    },
    onMessage(message) {
      if (message.kind === 'done') {
        awaited = false;
        backlog.written(sent.count, sent.bytes);
        intents.grown(sent.bytes);
        sent = { count: 0, bytes: 0 };
        disk.over();
        commits.done();
        writeKept();
      } else if (message.kind === 'failed') {
        disk.met(message.message);
        notWritten(message.message);
      } else if (message.kind === 'shortened') {
        problem('records-missing', `${message.missing} at the end of the journal`);
      } else if (message.kind === 'opened') {
        backlog.counted(message.count, message.bytes);
        if (!wasOpen) leftBehind = message.lastId;
        wasOpen = true;
        opened.resolve();
      } else if (message.kind === 'refused') {
        if (wasOpen) disk.met(message.message);
        failOpening(message.message);
      }
    },
    onDeath(reason) {
      if (wasOpen) problem('worker-ended', reason);
      failOpening(reason);
      // It is unknown whether the batch was written. It is written again, and the applier takes each record once.
      if (awaited) notWritten(reason);
    },
  });
  await opened.promise;

  const applier = startThread<ToApplier, FromApplier>({
    name: 'applier',
    settings: () =>
      ({
        dataDir,
        applied: backlog.appliedPlace,
        node,
        leftBehind,
        databaseUrl,
        keepUsage: options.keepUsage ?? null,
        findsSpent: options.findsSpent ?? false,
        lookEvery: options.lookEvery ?? 100,
      }) satisfies ApplierSettings,
    onMessage(message) {
      if (message.kind === 'applied') {
        away.over();
        backlog.applied(message);
        writer.post({ kind: 'applied', place: message.place });
        writeKept();
      } else if (message.kind === 'spent') {
        spent.resolve(message.meters);
      } else if (message.kind === 'away') {
        away.met(message.message);
      } else if (message.kind === 'lost') {
        problem('records-missing', describeLoss(message.loss));
        options.onLoss?.();
      } else if (message.kind === 'rejected') {
        problem('record-rejected', message.message);
        onRejected(message.leased);
      } else if (message.kind === 'replayed') {
        replaying?.resolve();
        replaying = null;
        if (message.restored > 0) {
          problem('records-replayed', `${message.restored} of ${message.records}`);
        }
      } else if (message.kind === 'late') {
        problem('charges-late', `${message.count} charges, ${formatUsd(message.amount)} USD`);
      } else if (message.kind === 'unfinished') {
        unfinished += message.count;
        problem('attempts-unfinished', String(message.count));
      } else if (message.kind === 'not-durable') {
        problem('database-not-durable', message.message);
      } else if (message.kind === 'not-removed') {
        problem('rows-not-removed', message.message);
      }
    },
    // Resumes from the last acknowledged position; applying is idempotent.
    onDeath(reason) {
      problem('worker-ended', reason);
      if (replaying !== null) applier.post({ kind: 'replay' });
    },
  });

  // Most intents leave with the next commit. Those of a gateway with little to do are written alone.
  const intentTimer = setInterval(() => {
    intents.renew(now());
    if (!intents.hasUnwritten || awaited || commits.broken !== null) return;
    const text = intents.take(now());
    if (text === null || !writer.post({ kind: 'intents', intents: text })) return;
    backlog.written(0, text.length);
    intents.grown(text.length);
  }, intentInterval).unref();

  function appendLine(line: string, isOwed: boolean): Promise<void> {
    const isFull = backlog.bytes + line.length > (isOwed ? maxSize : usualSize);
    return isFull ? Promise.reject(rejection('full')) : commits.append(line);
  }

  function lose(count: number): void {
    if (count > 0 && lost === 0) problem('records-lost', 'the disk refused them');
    lost += count;
  }

  /** Handles a record that could not be written. @throws the reason, unless the record waits in memory. */
  function keepOrThrow(record: ExchangeRecord, line: string, reason: unknown): void {
    if (closing === null && isOwedNothing(record) && kept.add(line)) return;
    lose(1);
    throw reason;
  }

  function writeKept(): void {
    if (kept.count === 0 || !isUsable()) return;
    for (const line of kept.takeAll()) {
      appendLine(line, false).catch(() => {
        if (!kept.add(line)) lose(1);
      });
    }
  }

  const isUsable = () => commits.broken === null && backlog.bytes < usualSize;

  async function close(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!commits.idle && performance.now() < deadline) await wait(2);
    commits.end('the gateway is stopping');
    clearInterval(intentTimer);
    lose(kept.takeAll().length);
    await applier.end({ kind: 'drain' }, deadline - performance.now());
    await writer.end({ kind: 'close' }, 1_000);
  }

  return {
    append(record) {
      const line = toLine(record);
      intents.end(record.id);
      const written = appendLine(line, record.charge !== null);
      return written.catch((reason: unknown) => keepOrThrow(record, line, reason));
    },
    get isAway() {
      return away.isOn;
    },
    get usable() {
      return isUsable();
    },
    begin: intents.begin,
    get lost() {
      return lost;
    },
    get unfinished() {
      return unfinished;
    },
    get depth() {
      return backlog.depth;
    },
    caughtUp: backlog.caughtUp,
    spentWithLeftOver: spent.promise,
    get appliedUntil() {
      return backlog.appliedUntil;
    },
    onRejected(listener) {
      onRejected = listener;
    },
    replay() {
      if (replaying === null) {
        replaying = Promise.withResolvers();
        applier.post({ kind: 'replay' });
      }
      return replaying.promise;
    },
    close: (timeoutMs = 5_000) => (closing ??= close(timeoutMs)),
  };
}

/** Whether the response is free. Refused and failed requests may be reported without a row if necessary. */
function isOwedNothing({ charge, outcome }: ExchangeRecord): boolean {
  return charge === null && (outcome === 'completed' || outcome === 'client-left');
}

function describeLoss({ first, missing, reason }: Loss): string {
  const last = first + missing - 1;
  return `${missing} ${reason === 'damaged' ? 'damaged' : 'not in the journal'}: numbers ${first} to ${last}`;
}
