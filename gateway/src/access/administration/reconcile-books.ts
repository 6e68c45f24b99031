import { formatUsd, type OpenDatabase } from '#database/index.ts';
import { type Checked, type Difference, lateCharges, reconcile } from '#ledger/index.ts';
import { type Actor, actorName } from './audit.ts';
import { listAudit, recordAudit } from './audit.repository.ts';
import { Refusal } from './refusal.ts';

/** What a comparison of the books with the requests came to. */
export interface Reconciliation {
  /** When it ended. RFC 3339. */
  readonly time: string;
  readonly by: string;
  readonly seconds: number;
  /** How many items of each kind were compared. */
  readonly checked: Partial<Checked>;
  readonly differences: number;
  /** The first of them. */
  readonly first: readonly Difference[];
  /** Requests that were charged without a lease, by which limits may be exceeded. */
  readonly late: { readonly rows: number; readonly usd: string };
  /** It did not come to its end; null: it did. */
  readonly failure: string | null;
}

/** One that is under way in this process. */
export interface Reconciling {
  /** RFC 3339. */
  readonly since: string;
  readonly by: string;
  /** So far. */
  readonly differences: number;
}

export interface Reconciler {
  readonly running: Reconciling | null;
  /** Begins one. @throws Refusal if one is under way */
  start(actor: Actor): void;
  /** Ends the one that is under way. */
  close(): Promise<void>;
}

/** Differences that are kept with the result. */
const mostKept = 50;
const subject = { kind: 'books', name: 'books' } as const;

export interface ReconcilerOptions {
  readonly database: Pick<OpenDatabase, 'kysely'>;
  /** A connection for the comparison alone, which takes as long as there are requests. */
  readonly open: () => OpenDatabase;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Compares the books with the requests, one comparison at a time; each result is in the audit log. */
export function createReconciler({ database, open, now }: ReconcilerOptions): Reconciler {
  let running: { since: string; by: string; differences: number } | null = null;
  let ended: Promise<void> = Promise.resolve();
  let stop = (): Promise<void> => Promise.resolve();

  async function run(actor: Actor, state: NonNullable<typeof running>): Promise<void> {
    const began = now();
    const connection = open();
    stop = async () => connection.close();
    const first: Difference[] = [];
    let checked: Partial<Checked> = {};
    let late = { count: 0, amount: 0n };
    let failure: string | null = null;
    try {
      late = await lateCharges(connection.kysely, {});
      checked = await reconcile(connection, {}, (difference) => {
        state.differences += 1;
        if (first.length < mostKept) first.push(difference);
      });
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
    } finally {
      await connection.close();
    }
    const result = {
      differences: state.differences,
      seconds: Math.round((now() - began) / 1_000),
      checked,
      late: { rows: late.count, usd: formatUsd(late.amount) },
      ...(first.length > 0 && { first }),
      ...(failure !== null && { failure }),
    };
    await database.kysely.transaction().execute((trx) =>
      recordAudit({ trx, now: now() }, actor, {
        action: 'reconcile',
        subject,
        fields: Object.entries(result).map(([field, value]) => ({
          field,
          before: null,
          after: JSON.stringify(value),
          secret: false,
        })),
      }),
    );
  }

  return {
    get running() {
      return running;
    },
    start(actor) {
      if (running !== null) throw new Refusal('state', 'the books are being compared already');
      const state = { since: new Date(now()).toISOString(), by: actorName(actor), differences: 0 };
      running = state;
      ended = run(actor, state)
        // The result is lost with the database that it would be kept in.
        .catch(() => undefined)
        .finally(() => (running = null));
    },
    async close() {
      if (running !== null) await stop();
      await ended;
    },
  };
}

/** The last comparison whose result the audit log has; null: there is none. */
export async function lastReconciliation(
  db: OpenDatabase['kysely'],
): Promise<Reconciliation | null> {
  const [line] = await listAudit(db, { action: `${subject.kind}.reconcile`, limit: 1 });
  if (line === undefined) return null;
  const { differences, seconds, checked, late, first, failure } = Object.fromEntries(
    line.changes.map(({ field, after }) => [field, after]),
  ) as Partial<Omit<Reconciliation, 'time' | 'by'>>;
  return {
    time: line.time,
    by: line.actor.name,
    differences: differences ?? 0,
    seconds: seconds ?? 0,
    checked: checked ?? {},
    late: late ?? { rows: 0, usd: '0' },
    first: first ?? [],
    failure: failure ?? null,
  };
}
