import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { type Actor, type AuditEntry, recordAudit } from '#administration/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import { fromDatabase } from './from-database.ts';

/** Few enough lines that no request for a model waits for them. */
const linesAtOnce = 100;
/** Milliseconds after which a reader that takes nothing is dropped. */
const patience = 60_000;

/** A part of a list. `next`: where the following one begins; null: this is the last. */
export interface FilePage<Entry, Cursor> {
  readonly data: readonly Entry[];
  readonly next: Cursor | null;
}

/**
 * Sends a list as a file, page by page, so that neither memory nor a transaction grows with it. One page is read while
 * the one before is written. A file that fails is cut short.
 * @param form the text before all entries, and that of one
 * @param first the first page: whoever called has read it before the file began
 */
export async function sendPages<Entry, Cursor>(
  body: ServerResponse,
  form: { readonly heading: string; readonly line: (entry: Entry) => string },
  first: FilePage<Entry, Cursor>,
  pageAfter: (cursor: Cursor) => Promise<FilePage<Entry, Cursor>>,
): Promise<void> {
  let page = first;
  try {
    await write(body, form.heading);
    for (;;) {
      const following = page.next === null ? null : pageAfter(page.next);
      // If writing fails first, nobody waits for it.
      following?.catch(ignore);
      for (let at = 0; at < page.data.length; at += linesAtOnce) {
        await write(
          body,
          page.data
            .slice(at, at + linesAtOnce)
            .map(form.line)
            .join(''),
        );
      }
      if (following === null) break;
      page = await following;
    }
    body.end();
  } catch {
    // A file that ends too early must not look whole.
    body.destroy();
  }
}

const ignore = () => undefined;

/** Waits until it is taken, and lets others run. @throws Error if the other side takes nothing, or is gone */
async function write(body: ServerResponse, text: string): Promise<void> {
  if (body.destroyed) throw new Error('the reader has gone');
  if (body.write(text)) return setImmediate();
  await once(body, 'drain', { signal: AbortSignal.timeout(patience) });
}

/** The headers that make a browser store a response under this name. */
export const storedAs = (name: string): readonly string[] => [
  'content-disposition',
  `attachment; filename="${name}"`,
];

export interface ExportRecordOptions {
  readonly database: OpenDatabase;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * Puts on record that somebody takes a list away as a file.
 * @param subject the list, and the name of the file
 * @param filter which part of the list; null: there is no choice
 * @throws ApiError `database_away`: what is not on record is not sent
 */
export function recordExport(
  { database, now }: ExportRecordOptions,
  actor: Actor,
  subject: AuditEntry['subject'],
  filter: object | null,
): Promise<void> {
  const after = JSON.stringify(filter);
  const fields = filter === null ? [] : [{ field: 'filter', before: null, after, secret: false }];
  return fromDatabase(() =>
    database.kysely
      .transaction()
      .execute((trx) =>
        recordAudit({ trx, now: now() }, actor, { action: 'export', subject, fields }),
      ),
  );
}
