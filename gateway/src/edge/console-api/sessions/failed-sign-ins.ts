import { recordAudit } from '#administration/index.ts';
import type { OpenDatabase } from '#database/index.ts';

export interface FailedSignIns {
  /** Counts one from this address; null: unknown. */
  count(address: string | null): void;
  /** Puts what was counted on record. */
  close(): Promise<void>;
}

export interface FailedSignInsOptions {
  readonly database: OpenDatabase;
  /** What they were to open. */
  readonly kind: 'session' | 'admin_key';
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds between lines of one address. */
  readonly interval?: number;
}

/** Addresses with a separate line in a minute; the rest share one. */
const mostAddresses = 200;

/** Puts failed sign-ins on record as one line a minute and address, so that a flood of them cannot fill the log. */
export function createFailedSignIns({
  database,
  kind,
  now,
  interval = 60_000,
}: FailedSignInsOptions): FailedSignIns {
  let counts = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;

  function add(address: string, more: number): void {
    const name = counts.has(address) || counts.size < mostAddresses ? address : 'other addresses';
    counts.set(name, (counts.get(name) ?? 0) + more);
    timer ??= setTimeout(() => void write(), interval).unref();
  }

  async function write(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const writtenCounts = counts;
    counts = new Map();
    try {
      await database.kysely.transaction().execute(async (trx) => {
        for (const [address, failures] of writtenCounts) {
          const count = { field: 'count', before: null, after: `${failures}`, secret: false };
          await recordAudit(
            { trx, now: now() },
            { kind: 'gateway' },
            { action: 'refuse', subject: { kind, name: address }, fields: [count] },
          );
        }
      });
    } catch {
      // The database is unreachable: they are written with those of the next minute.
      for (const [address, failures] of writtenCounts) add(address, failures);
    }
  }

  return {
    count: (address) => add(address ?? 'unknown address', 1),
    async close() {
      if (counts.size > 0) await write();
      if (timer !== null) clearTimeout(timer);
    },
  };
}
