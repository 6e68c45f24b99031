import { setTimeout as wait } from 'node:timers/promises';
import type { Trouble } from '#database/index.ts';
import { GatewayError } from '#errors/index.ts';
import { lineVersion, toLine, type ExchangeRecord } from '#usage/index.ts';
import type { Backlog } from './backlog.ts';
import { GroupCommit } from './group-commit.ts';
import { createOpenIntents } from './intents.ts';
import type { Journal, JournalProblem } from './journal.ts';
import type { KeepRules } from './kept-batches.ts';
import { KeptLines } from './kept-lines.ts';
import type { Place } from './mark.ts';
import type { FromWriter, ToWriter, WriterSettings } from './messages.ts';
import { startThread } from './thread.ts';

export interface WriterHalfOptions {
  readonly dataDir: string;
  /** Bytes of records that may wait for the database. */
  readonly maxSize: number;
  /** How long applied batches stay. */
  readonly keep: KeepRules;
  readonly backlog: Backlog;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly onProblem: (kind: JournalProblem['kind'], message: string) => void;
  /** The disk accepts nothing. */
  readonly trouble: Trouble;
}

/** What brings records to the disk: the side of the request thread, and the thread that writes. */
export interface WriterHalf extends Pick<Journal, 'append' | 'begin' | 'usable' | 'lost'> {
  /** The last batch that earlier processes left. */
  readonly leftBehind: number;
  /** Everything up to this place is in the database: there may be room again. */
  applied(place: Place): void;
  /** Waits until this time (`now`) for records under way, and accepts none from then on. */
  finish(deadline: number): Promise<void>;
  close(): Promise<void>;
}

/** Reserved for responses in flight when the limit is reached: their charges still get a record. */
const reserve = 16 * 2 ** 20;

/** Milliseconds. */
const intentInterval = 250;

/** Characters of records that may wait in memory for the disk: some ten thousand records. */
const mostKept = 4 * 2 ** 20;

/** @throws Error if another process has the journal open, or the folder is not writable. */
export async function openWriterHalf(options: WriterHalfOptions): Promise<WriterHalf> {
  const { dataDir, maxSize, keep, backlog, now, onProblem, trouble } = options;
  /** Without the reserve. */
  const usualSize = maxSize - Math.min(reserve, maxSize / 10);
  const keptLines = new KeptLines(mostKept);
  const intents = createOpenIntents();
  let sentBatch = { count: 0, bytes: 0 };
  /** A reply of the writer is pending. */
  let isAwaited = false;
  let wasOpen = false;
  let isClosing = false;
  let leftBehind = 0;
  let lostRecords = 0;

  function give(message: ToWriter): void {
    isAwaited = writer.post(message);
    // Like a failed write, but later, when a reply would arrive.
    if (!isAwaited) queueMicrotask(() => commits.failed('the journal writer is not running'));
  }
  const commits = new GroupCommit({
    send(lines, count) {
      const text = intents.take(now(), backlog.writtenBytes);
      sentBatch = { count, bytes: lines.length + (text?.length ?? 0) };
      give({ kind: 'commit', lines, count, intents: text });
    },
    probe() {
      sentBatch = { count: 0, bytes: 0 };
      give({ kind: 'probe' });
    },
    defer: setImmediate,
    schedule: (run, milliseconds) => void setTimeout(run, milliseconds),
    rejection,
  });

  function notWritten(reason: string): void {
    isAwaited = false;
    commits.failed(reason);
  }

  const opening = Promise.withResolvers<void>();
  /** Has no effect once the journal was open: then another attempt follows. */
  function failOpening(reason: string): void {
    if (wasOpen || isClosing) return;
    isClosing = true;
    void writer.end({ kind: 'close' }, 0);
    opening.reject(new Error(reason));
  }
  const writer = startThread<WriterSettings, ToWriter, FromWriter>({
    name: 'writer',
    settings() {
      backlog.recount();
      return { dataDir, applied: backlog.appliedPlace, lineVersion, keep };
    },
    onMessage(message) {
      switch (message.kind) {
        case 'done':
          isAwaited = false;
          backlog.written(sentBatch.count, sentBatch.bytes);
          sentBatch = { count: 0, bytes: 0 };
          trouble.over();
          commits.done();
          if (keptLines.count > 0) writeKept();
          break;
        case 'failed':
          trouble.met(message.message);
          notWritten(message.message);
          break;
        case 'shortened':
          onProblem('records-missing', `${message.missing} at the end of the journal`);
          break;
        case 'opened':
          backlog.counted(message.count, message.bytes);
          if (!wasOpen) leftBehind = message.lastId;
          wasOpen = true;
          opening.resolve();
          break;
        case 'refused':
          if (wasOpen) trouble.met(message.message);
          failOpening(message.message);
      }
    },
    onDeath(reason) {
      if (wasOpen) onProblem('worker-ended', reason);
      failOpening(reason);
      // It is unknown whether the batch was written. It is written again, and the applier takes each record once.
      if (isAwaited) notWritten(reason);
    },
  });
  await opening.promise;

  // Most intents leave with the next commit. Those of a gateway with little to do are written alone.
  const intentTimer = setInterval(() => {
    intents.renew(now(), backlog.writtenBytes);
    if (!intents.hasUnwritten || isAwaited || commits.broken !== null) return;
    const text = intents.take(now(), backlog.writtenBytes);
    if (text !== null && writer.post({ kind: 'intents', intents: text })) {
      backlog.written(0, text.length);
    }
  }, intentInterval).unref();

  function appendLine(line: string, isOwed: boolean): Promise<void> {
    const isFull = backlog.bytes + line.length > (isOwed ? maxSize : usualSize);
    return isFull ? Promise.reject(rejection('full')) : commits.append(line);
  }

  function lose(count: number): void {
    if (count > 0 && lostRecords === 0) onProblem('records-lost', 'the disk refused them');
    lostRecords += count;
  }

  /** Handles a record that could not be written. @throws the reason, unless the record waits in memory. */
  function keepOrThrow(record: ExchangeRecord, line: string, reason: unknown): void {
    if (!isClosing && isOwedNothing(record) && keptLines.add(line)) return;
    lose(1);
    throw reason;
  }

  const writeKept = (): void => {
    if (!half.usable) return;
    for (const line of keptLines.takeAll()) {
      appendLine(line, false).catch(() => {
        if (!keptLines.add(line)) lose(1);
      });
    }
  };

  const half: WriterHalf = {
    append(record) {
      const line = toLine(record);
      intents.end(record.id);
      return appendLine(line, record.charge !== null).catch((reason: unknown) =>
        keepOrThrow(record, line, reason),
      );
    },
    begin: intents.begin,
    get usable() {
      return commits.broken === null && backlog.bytes < usualSize;
    },
    get lost() {
      return lostRecords;
    },
    leftBehind,
    applied(place) {
      writer.post({ kind: 'applied', place });
      if (keptLines.count > 0) writeKept();
    },
    async finish(deadline) {
      isClosing = true;
      while (!commits.idle && now() < deadline) await wait(2);
      commits.end('the gateway is stopping');
      clearInterval(intentTimer);
      lose(keptLines.takeAll().length);
    },
    close: () => writer.end({ kind: 'close' }, 1_000),
  };
  return half;
}

function rejection(reason: string): GatewayError {
  return new GatewayError('unavailable', { cause: new Error(`journal: ${reason}`) });
}

/** Whether the response is free. Refused and failed requests may be reported without a row if necessary. */
function isOwedNothing({ charge, outcome }: ExchangeRecord): boolean {
  return charge === null && (outcome === 'completed' || outcome === 'client-left');
}
