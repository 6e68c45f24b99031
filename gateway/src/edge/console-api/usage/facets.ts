import type { OpenDatabase } from '#database/index.ts';
import {
  countedDimensions,
  countKinds,
  countNames,
  groupUsage,
  namesOf,
  type CountedDimension,
  type NameFilters,
} from '#usage/index.ts';

type Filter = NameFilters & { readonly from: number; readonly to: number };

/** Values to filter by, the most frequent first. @param beginning of names; null: all */
export async function readFacets(
  db: OpenDatabase['kysely'],
  filter: Filter,
  beginning: string | null,
  limit: number,
) {
  const counts = { model: none(), channel: none(), key: none(), user: none(), team: none() };
  const all = beginning === null ? await countNames(db, filter) : null;
  for (const dimension of countedDimensions) {
    const names =
      all === null
        ? await namesBeginning(db, filter, dimension, beginning ?? '', limit)
        : all[dimension];
    // Empty: no name to filter by. Without requests: a channel that was asked and never answered.
    const foundNames = names
      .filter(({ name, requests }) => name !== '' && requests > 0)
      .slice(0, limit);
    const shownNames = await namesOf(
      db,
      dimension,
      foundNames.map(({ name }) => name),
    );
    counts[dimension] = foundNames.map(({ name, requests }) => ({
      value: shownNames.get(name) ?? name,
      count: requests,
    }));
  }
  const kinds = await countKinds(db, filter);
  const begins = ({ value }: { readonly value: string }) => value.startsWith(beginning ?? '');
  return {
    ...counts,
    client: kinds.client.filter(begins),
    protocol: kinds.protocol.filter(begins),
    operation: kinds.operation.filter(begins),
    outcome: kinds.outcome.filter(begins),
    status: kinds.status.filter(begins),
  };
}

/** Names with this beginning, which only the database tells for ids. */
async function namesBeginning(
  db: OpenDatabase['kysely'],
  filter: Filter,
  dimension: CountedDimension,
  beginning: string,
  limit: number,
) {
  const { groups } = await groupUsage(db, {
    ...filter,
    beginnings: { ...filter.beginnings, [dimension]: beginning },
    by: [dimension],
    metric: 'requests',
    first: limit,
    timeZone: 'UTC',
  });
  return groups.flatMap(({ names: [name], requests }) =>
    typeof name === 'string' ? [{ name, requests }] : [],
  );
}

const none = (): { value: string; count: number }[] => [];
