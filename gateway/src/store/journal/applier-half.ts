import { formatUsd, type Trouble } from '#database/index.ts';
import type { Backlog } from './backlog.ts';
import type { Journal, JournalProblem } from './journal.ts';
import type { Place } from './mark.ts';
import type { ApplierSettings, FromApplier, ToApplier } from './messages.ts';
import type { Loss } from './read-on.ts';
import { startThread } from './thread.ts';

export interface ApplierHalfOptions {
  readonly settings: Omit<ApplierSettings, 'applied'>;
  readonly backlog: Backlog;
  /** Everything up to this place is in the database. */
  readonly onApplied: (place: Place) => void;
  readonly onProblem: (kind: JournalProblem['kind'], message: string) => void;
  /** The database accepts nothing. */
  readonly trouble: Trouble;
  /** Called when the database has noted a loss. */
  readonly onLoss: (() => void) | undefined;
}

/** What brings records from the disk to the database: the side of the request thread, and the thread that applies. */
export interface ApplierHalf extends Pick<
  Journal,
  'isAway' | 'unfinished' | 'spentWithLeftOver' | 'onRejected' | 'replay'
> {
  /** Applies what it can within this time, and ends. */
  close(timeoutMs: number): Promise<void>;
}

export function startApplierHalf(options: ApplierHalfOptions): ApplierHalf {
  const { settings, backlog, onApplied, onProblem, trouble, onLoss } = options;
  const spentTotals = Promise.withResolvers<ReadonlyMap<string, bigint>>();
  let onRejected: Parameters<Journal['onRejected']>[0] = () => {};
  let replaying: PromiseWithResolvers<void> | null = null;
  let unfinished = 0;

  const applier = startThread<ApplierSettings, ToApplier, FromApplier>({
    name: 'applier',
    settings: () => ({ ...settings, applied: backlog.appliedPlace }),
    onMessage(message) {
      switch (message.kind) {
        case 'applied':
          trouble.over();
          backlog.applied(message);
          onApplied(message.place);
          break;
        case 'spent':
          spentTotals.resolve(message.meters);
          break;
        case 'away':
          trouble.met(message.message);
          break;
        case 'lost':
          onProblem('records-missing', describeLoss(message.loss));
          onLoss?.();
          break;
        case 'rejected':
          onProblem('record-rejected', message.message);
          onRejected(message.leasedParts);
          break;
        case 'replayed':
          replaying?.resolve();
          replaying = null;
          if (message.restored > 0) {
            onProblem('records-replayed', `${message.restored} of ${message.records}`);
          }
          break;
        case 'late':
          onProblem('charges-late', `${message.count} charges, ${formatUsd(message.amount)} USD`);
          break;
        case 'unfinished':
          unfinished += message.count;
          onProblem('attempts-unfinished', String(message.count));
          break;
        case 'not-durable':
          onProblem('database-not-durable', message.message);
          break;
        case 'not-removed':
          onProblem('rows-not-removed', message.message);
      }
    },
    // Resumes from the last acknowledged position; applying is idempotent.
    onDeath(reason) {
      onProblem('worker-ended', reason);
      if (replaying !== null) applier.post({ kind: 'replay' });
    },
  });

  return {
    get isAway() {
      return trouble.isOn;
    },
    get unfinished() {
      return unfinished;
    },
    spentWithLeftOver: spentTotals.promise,
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
    close: (timeoutMs) => applier.end({ kind: 'drain' }, timeoutMs),
  };
}

function describeLoss({ first, missing, reason }: Loss): string {
  const last = first + missing - 1;
  return `${missing} ${reason === 'damaged' ? 'damaged' : 'not in the journal'}: numbers ${first} to ${last}`;
}
