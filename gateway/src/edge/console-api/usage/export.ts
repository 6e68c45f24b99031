import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { recordAudit } from '#administration/index.ts';
import { csvHeading, listUsage, toCsv, type UsageEntry } from '#usage/index.ts';
import { contract, exportedRow } from '../contract/index.ts';
import { fromDatabase } from '../from-database.ts';
import { serveStream } from '../serve-route.ts';
import { actorOf } from '../sessions/connection.ts';
import { filterOf, rangeOf, scopeOf, type UsageRoutesOptions, rowOf } from './filter.ts';

/** Enough that the cost of a query is little beside that of its rows. */
const rowsAtOnce = 500;
/** Few enough lines that no request for a model waits for them. */
const linesAtOnce = 100;
/** Milliseconds after which a reader that takes nothing is dropped. */
const patience = 60_000;

const formats = {
  csv: { type: 'text/csv; charset=utf-8', heading: csvHeading, line: toCsv, detail: 'line' },
  jsonl: {
    type: 'application/jsonl',
    heading: '',
    detail: 'entry',
    line: (entry: UsageEntry) => `${JSON.stringify(exportedRow.parse(rowOf(entry)))}\n`,
  },
} as const;

/**
 * All requests that a filter leaves, page by page, so that neither memory nor a transaction grows with them. One page is
 * read while the one before is written.
 */
export function exportRoute(scope: FastifyInstance, options: UsageRoutesOptions): void {
  const { database, reads, now } = options;
  serveStream(scope, contract.exportUsage, options, async ({ request, query, caller }, begin) => {
    const { type, heading, line, detail } = formats[query.format];
    // The end stays where it is: rows of later requests do not belong to this file.
    const filter = { ...filterOf(query), ...rangeOf(query, now()), limit: rowsAtOnce };
    const pageAfter = (cursor: string | null) =>
      reads(async (db) =>
        listUsage(
          db,
          { ...filter, ...(await scopeOf(db, caller)), ...(cursor !== null && { cursor }) },
          detail,
        ),
      );
    let page = await pageAfter(null);
    const queryText = JSON.stringify(query);
    await fromDatabase(() =>
      database.kysely.transaction().execute((trx) =>
        recordAudit({ trx, now: now() }, actorOf(request, caller.session.user), {
          action: 'export',
          subject: { kind: 'usage', name: `requests.${query.format}` },
          fields: [{ field: 'filter', before: null, after: queryText, secret: false }],
        }),
      ),
    );
    const body = begin(type, [
      'content-disposition',
      `attachment; filename="requests.${query.format}"`,
    ]);
    try {
      await write(body, heading);
      for (;;) {
        const following = page.next === null ? null : pageAfter(page.next);
        // If writing fails first, nobody waits for it.
        following?.catch(ignore);
        for (let at = 0; at < page.data.length; at += linesAtOnce) {
          await write(
            body,
            page.data
              .slice(at, at + linesAtOnce)
              .map(line)
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
  });
}

const ignore = () => undefined;

/** Waits until it is taken, and lets others run. @throws Error if the other side takes nothing, or is gone */
async function write(body: ServerResponse, text: string): Promise<void> {
  if (body.destroyed) throw new Error('the reader has gone');
  if (body.write(text)) return setImmediate();
  await once(body, 'drain', { signal: AbortSignal.timeout(patience) });
}
