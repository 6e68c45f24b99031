import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { listGroups, resolveModel, type CatalogueSnapshot } from '#catalogue/index.ts';
import { parseMultiplier, ratesOf, repricedCost, rescaledCost } from '#billing/index.ts';
import { type DeclaredPrice, kinds, readPrice } from '#config/index.ts';
import { formatUsd } from '#database/index.ts';
import { listPricedRows, namesOf, type PricedRow, type PricedRowsFilter } from '#usage/index.ts';
import { contract } from '../contract/index.ts';
import { ApiError } from '../errors.ts';
import type { Reads } from '../from-database.ts';
import { serveRoute, type ServeOptions } from '../serve-route.ts';
import { readMembers, throwRefusal } from '../writes.ts';

export interface PreviewOptions extends ServeOptions {
  readonly reads: Reads;
  /** The catalogue at this moment. */
  readonly snapshot: () => CatalogueSnapshot;
  /** Unix milliseconds. */
  readonly now: () => number;
}

const day = 86_400_000;
/** A page is worked on in a few milliseconds, and other requests have their turn behind it. */
const rowsAtOnce = 500;
/** The newest ones: about a second of work. */
const mostRows = 100_000;
const mostPayers = 20;

interface Sum {
  requests: number;
  cost: bigint;
  wouldBe: bigint;
}

/** What changes of prices would have made of the requests of the last days. Nothing is changed. */
export function previewRoutes(scope: FastifyInstance, options: PreviewOptions): void {
  const { reads, snapshot, now } = options;

  serveRoute(
    scope,
    contract.previewPrice,
    options,
    async ({ body: { model: name, price, days } }) => {
      const model = resolveModel(snapshot(), name)?.model;
      if (model === undefined) throw new ApiError('not_found', 'there is no such model');
      const rates = ratesOf(priceOf(model.type, price));
      const of = { model: model.id };
      return preview(of, days, ({ receipt, multiplier }) =>
        repricedCost(receipt, rates, parseMultiplier(multiplier)),
      );
    },
  );

  serveRoute(scope, contract.previewGroup, options, async ({ parameters, body }) => {
    const { name } = parameters;
    const groups = await reads(listGroups);
    if (!groups.some((group) => group.name === name)) {
      throw new ApiError('not_found', 'there is no such group');
    }
    const { price_multiplier: factor, days } = body;
    const { priceMultiplier } = readMembers(kinds.group, { name, price_multiplier: factor });
    const multiplier = parseMultiplier(priceMultiplier);
    return preview({ group: name }, days, ({ receipt }) => rescaledCost(receipt, multiplier));
  });

  /** @param costOf what a row would have cost; null: its receipt does not say it */
  async function preview(
    of: PricedRowsFilter['of'],
    days: number,
    costOf: (row: PricedRow) => bigint | null,
  ) {
    const to = now();
    const from = to - days * day;
    const sums = new Map<string, Sum & { readonly payer: PricedRow['payer'] }>();
    let [rows, inexact] = [0, 0];
    let after: PricedRow | undefined;
    for (let isOver = false; !isOver && rows < mostRows;) {
      const filter = { of, from, to, limit: rowsAtOnce };
      const page = await reads((db) =>
        listPricedRows(db, { ...filter, ...(after !== undefined && { after }) }),
      );
      for (const row of page) {
        const { payer, cost } = row;
        const name = `${payer.kind} ${payer.id}`;
        const sum = sums.get(name) ?? { payer, requests: 0, cost: 0n, wouldBe: 0n };
        const wouldBe = row.isReported ? costOf(row) : null;
        if (wouldBe === null) inexact += 1;
        sum.requests += 1;
        sum.cost += cost;
        sum.wouldBe += wouldBe ?? cost;
        sums.set(name, sum);
      }
      rows += page.length;
      after = page.at(-1);
      isOver = page.length < rowsAtOnce;
      await setImmediate();
    }
    const isWhole = rows < mostRows;
    const payers = [...sums.values()].toSorted((a, b) => (differs(b) > differs(a) ? 1 : -1));
    const shown = payers.slice(0, mostPayers);
    const names = await reads(async (db) => {
      const idsOf = (kind: 'user' | 'team') =>
        shown.filter(({ payer }) => payer.kind === kind).map(({ payer }) => payer.id);
      return new Map([
        ...(await namesOf(db, 'user', idsOf('user'))),
        ...(await namesOf(db, 'team', idsOf('team'))),
      ]);
    });
    const total = (pick: (sum: Sum) => bigint) =>
      formatUsd(payers.reduce((sum, payer) => sum + pick(payer), 0n));
    return {
      body: {
        from: new Date(isWhole ? from : (after?.time ?? from)).toISOString(),
        to: new Date(to).toISOString(),
        requests: rows,
        inexact,
        cost: total(({ cost }) => cost),
        would_be: total(({ wouldBe }) => wouldBe),
        payers: shown.map(({ payer, requests, cost, wouldBe }) => ({
          kind: payer.kind,
          name: names.get(payer.id) ?? payer.id,
          requests,
          cost: formatUsd(cost),
          would_be: formatUsd(wouldBe),
        })),
        more_payers: payers.length - shown.length,
      },
    };
  }
}

/** @throws ApiError `invalid` with every problem */
function priceOf(type: string, members: unknown): DeclaredPrice {
  try {
    const price = readPrice(type, members);
    if (price !== null) return price;
  } catch (error) {
    return throwRefusal(kinds.model, error);
  }
  const message = 'expected at least one part';
  throw new ApiError('invalid', `price: ${message}`, { fields: [{ path: 'price', message }] });
}

const differs = ({ cost, wouldBe }: Sum) => (wouldBe > cost ? wouldBe - cost : cost - wouldBe);
