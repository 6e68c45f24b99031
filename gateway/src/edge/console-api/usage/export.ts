import type { FastifyInstance } from 'fastify';
import { csvHeading, listUsage, toCsv, type UsageEntry } from '#usage/index.ts';
import { contract, exportedRow } from '../contract/index.ts';
import { recordExport, sendPages, storedAs } from '../file-stream.ts';
import { serveStream } from '../serve-route.ts';
import { filterOf, rangeOf, scopeOf, type UsageRoutesOptions, rowOf } from './filter.ts';

/** Enough that the cost of a query is little beside that of its rows. */
const rowsAtOnce = 500;

const formats = {
  csv: { type: 'text/csv; charset=utf-8', heading: csvHeading, line: toCsv, detail: 'line' },
  jsonl: {
    type: 'application/jsonl',
    heading: '',
    detail: 'entry',
    line: (entry: UsageEntry) => `${JSON.stringify(exportedRow.parse(rowOf(entry)))}\n`,
  },
} as const;

/** All requests that a filter leaves. */
export function exportRoute(scope: FastifyInstance, options: UsageRoutesOptions): void {
  const { reads, now } = options;
  serveStream(scope, contract.exportUsage, options, async ({ query, caller }, begin) => {
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
    const first = await pageAfter(null);
    const name = `requests.${query.format}`;
    await recordExport(options, caller.actor, { kind: 'usage', name }, query);
    await sendPages(begin(type, storedAs(name)), { heading, line }, first, pageAfter);
  });
}
