import type { ReceivedRequest } from 'simulator';
import type { OpenDatabase } from '#database/index.ts';
import { listUsage, type UsageEntry } from '#usage/index.ts';

/** One request as its client saw it. */
export interface ClientLog {
  /** A word that only this request carries, before a full stop, so that the upstream's log can be read for it. */
  readonly mark: string;
  /** The `x-request-id`; null when no head came. */
  readonly id: string | null;
  readonly status: number | null;
  /** The protocol's success terminator has come. */
  readonly completed: boolean;
  /** The client itself disconnected. */
  readonly left: boolean;
}

/**
 * Three witnesses of the same requests: clients, gateway, upstream. Every sentence in the result is a disagreement:
 * a response that was finished and not recorded, one recorded that its client never got whole, an attempt that only
 * one side knows of.
 */
export function reconcileLogs(
  clients: readonly ClientLog[],
  rows: readonly UsageEntry[],
  received: readonly ReceivedRequest[],
): string[] {
  const differences: string[] = [];
  const rowsById = new Map<string, UsageEntry[]>();
  for (const row of rows) rowsById.set(row.id, [...(rowsById.get(row.id) ?? []), row]);

  const receivedByMark = new Map<string, ReceivedRequest[]>();
  for (const request of received) {
    for (const [, mark = ''] of request.body.matchAll(/([\w-]+)\./g)) {
      receivedByMark.set(mark, [...(receivedByMark.get(mark) ?? []), request]);
    }
  }

  for (const client of clients) {
    if (client.id === null) continue;
    const own = rowsById.get(client.id) ?? [];
    const [row] = own;
    const say = (sentence: string) => void differences.push(`${client.mark}: ${sentence}`);
    if (row === undefined || own.length > 1) {
      say(`${own.length} rows`);
      continue;
    }
    if (client.completed && row.outcome !== 'completed')
      say(`finished, recorded as ${row.outcome}`);
    if (!client.completed && !client.left && row.outcome === 'completed') say('completed unseen');
    if (!client.left && client.status !== row.status)
      say(`${client.status} is ${row.status} there`);
    if (row.outcome === 'completed' && row.tokens.output === 0) say('completed without output');
    if (row.outcome === 'failed' && row.tokens.input + row.tokens.output > 0) say('failed, owed');

    const asked = receivedByMark.get(client.mark) ?? [];
    const { attempts } = row;
    const sent = attempts.filter((attempt) => attempt.class !== 'not-sent');
    if (asked.length !== sent.length) say(`${asked.length} upstream, ${sent.length} attempts`);
    for (const { finished, clientLeft, sequence } of asked) {
      if (!finished && !clientLeft && row.outcome === 'completed' && attempts.length === 1) {
        say(`completed from a response that upstream ${sequence} never finished`);
      }
    }
  }
  return differences;
}

/** Every row there is. */
export async function allRows({ kysely }: Pick<OpenDatabase, 'kysely'>): Promise<UsageEntry[]> {
  const rows: UsageEntry[] = [];
  let cursor: string | null = null;
  do {
    const page = await listUsage(kysely, { limit: 1_000, ...(cursor !== null && { cursor }) });
    rows.push(...page.data);
    cursor = page.next;
  } while (cursor !== null);
  return rows;
}
