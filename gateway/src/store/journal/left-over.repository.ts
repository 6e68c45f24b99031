import type { OpenDatabase } from '#database/index.ts';
import { spentOf } from '#ledger/index.ts';
import {
  chargeOf,
  isDataError,
  readLines,
  type LineCharge,
  type LineValues,
} from '#usage/index.ts';
import { linesIn } from './batch-writer.ts';
import { isSound, type Batch } from './batch.ts';
import type { JournalFile } from './journal-file.repository.ts';
import { readable } from './read-on.ts';

type Readable = Pick<JournalFile, 'after' | 'one'>;

/** Ids or meters per query: databases limit the parameters of a statement. */
const pageSize = 1_000;

/**
 * What has been spent on every meter of the records that earlier processes left in the journal, these records included.
 * Reading it takes a small part of the time of applying them, so no request has to wait for that. Nothing may be applied
 * meanwhile.
 * @param after everything up to this batch is in the database
 * @param upTo the last batch of earlier processes
 * @returns by meter, in nano-USD; meters without such records are absent.
 * @throws the database's error if it is unreachable; Error for records of a newer version.
 */
export async function spentWithLeftOver(
  { kysely }: OpenDatabase,
  file: Readable,
  after: number,
  upTo: number,
): Promise<Map<string, bigint>> {
  const spentTotals = new Map<string, bigint>();
  const add = (meter: string, amount: bigint) =>
    void spentTotals.set(meter, (spentTotals.get(meter) ?? 0n) + amount);
  // A commit that was taken for failed was written again right behind.
  let countedIds: ReadonlySet<string> = new Set();
  // The last process may have ended before it noted what it had applied, in the order of the journal.
  let mayBeApplied = true;
  for (const charges of pagesOf(file, after, upTo)) {
    const ids = [...charges.keys()];
    if (mayBeApplied) {
      const rows = await kysely.selectFrom('usage').select('id').where('id', 'in', ids).execute();
      for (const { id } of rows) charges.delete(id);
      mayBeApplied = rows.length > 0;
    }
    for (const [id, { cost, meters }] of charges) {
      if (countedIds.has(id)) continue;
      for (const meter of meters) add(meter, cost);
    }
    countedIds = new Set(ids);
  }
  const meters = [...spentTotals.keys()];
  for (let at = 0; at < meters.length; at += pageSize) {
    const totals = await spentOf(kysely, meters.slice(at, at + pageSize));
    for (const [meter, amount] of totals) add(meter, amount);
  }
  return spentTotals;
}

/** Charges by the id of their record. */
function* pagesOf(file: Readable, after: number, upTo: number): Generator<Map<string, LineCharge>> {
  let page = new Map<string, LineCharge>();
  for (const batch of readable(file, after, upTo)) {
    if (batch.id > upTo) break;
    if (!isSound(batch) || batch.lines === '') continue;
    for (const row of rowsOf(batch)) {
      const charge = skippingDamaged(() => chargeOf(row));
      if (charge !== null) page.set(charge.id, charge);
    }
    if (page.size < pageSize) continue;
    yield page;
    page = new Map();
  }
  if (page.size > 0) yield page;
}

function rowsOf(batch: Batch): readonly LineValues[] {
  const { version } = batch;
  return (
    skippingDamaged(() => readLines([batch]).rows) ??
    linesIn(batch.lines).flatMap(
      (lines) => skippingDamaged(() => readLines([{ version, lines }]).rows) ?? [],
    )
  );
}

/** Null for records that the applier will set aside. */
function skippingDamaged<Read>(read: () => Read): Read | null {
  try {
    return read();
  } catch (error) {
    if (!isDataError(error)) throw error;
    return null;
  }
}
