import { commitDurably, type OpenDatabase } from '#database/index.ts';
import type { LeasedPart } from '#leases/index.ts';
import {
  isDataError,
  leasedIn,
  readLines,
  recordUsage,
  splitLines,
  type RecordUsageOptions,
  type StoredLines,
} from '#usage/index.ts';
import { recordLosses } from './losses.repository.ts';
import type { Loss } from './read-on.ts';

export interface BatchWriterOptions {
  readonly database: OpenDatabase;
  /** The id of the node that the journal belongs to. */
  readonly node: string;
  /** Takes a record that the database will never accept. */
  readonly putAside: (line: string, reason: string, leasedParts: readonly LeasedPart[]) => void;
  /** These charges came after their leases had been freed. @param amount of all of them, in nano-USD */
  readonly onLate?: (count: number, amount: bigint) => void;
  /** A crash of the database may lose what it commits. */
  readonly onFragile?: (reason: string) => void;
}

/** Writes batches of a journal to the database. */
export function createBatchWriter(options: BatchWriterOptions) {
  const { database, node, putAside, onLate, onFragile } = options;

  /** Returns how many records were new. @throws the database's error if it is unreachable. */
  async function write(
    batches: readonly StoredLines[],
    losses: readonly Loss[],
    recording: RecordUsageOptions,
  ): Promise<number> {
    if (batches.length === 0 && losses.length === 0) return 0;
    try {
      return await record(batches, losses, recording);
    } catch (error) {
      if (!isDataError(error)) throw error;
      await record([], losses, recording);
      let count = 0;
      for (const batch of batches) count += await writeOneByOne(batch, recording);
      return count;
    }
  }

  async function record(
    batches: readonly StoredLines[],
    losses: readonly Loss[],
    recording: RecordUsageOptions,
  ): Promise<number> {
    const lines = readLines(batches);
    const late: bigint[] = [];
    const count = await database.kysely.transaction().execute(async (trx) => {
      const obstacle = await commitDurably(trx, database.dialect);
      if (obstacle !== null) onFragile?.(obstacle);
      if (losses.length > 0) await recordLosses(trx, node, losses, Date.now());
      if (batches.length === 0) return 0;
      return recordUsage(trx, lines, { ...recording, onLate: (amount) => void late.push(amount) });
    });
    if (late.length > 0) {
      onLate?.(
        late.length,
        late.reduce((sum, amount) => sum + amount, 0n),
      );
    }
    return count;
  }

  /** One record that the database refuses must not block the others forever. */
  async function writeOneByOne(
    { version, lines }: StoredLines,
    recording: RecordUsageOptions,
  ): Promise<number> {
    let count = 0;
    for (const text of linesIn(lines)) {
      try {
        count += await record([{ version, lines: text }], [], recording);
      } catch (error) {
        if (!isDataError(error)) throw error;
        putAside(text, (error as Error).message, leasedIn({ version, lines: text }));
      }
    }
    return count;
  }

  return { write };
}

/** Each line of a batch; the whole text when it is damaged so that they cannot be told apart. */
export function linesIn(lines: unknown): readonly string[] {
  // In a damaged file.
  if (typeof lines !== 'string') return [JSON.stringify(lines)];
  try {
    return splitLines(lines).map((line) => JSON.stringify(line));
  } catch {
    return [lines];
  }
}
