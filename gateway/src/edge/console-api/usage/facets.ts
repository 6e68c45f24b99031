import type { OpenDatabase } from '#database/index.ts';
import { countKinds, groupUsage, nameDimensions, namesOf, type NameFilters } from '#usage/index.ts';

type Filter = NameFilters & { readonly from: number; readonly to: number };

/** Values to filter by, the most frequent first. @param beginning of names; null: all */
export async function readFacets(
  db: OpenDatabase['kysely'],
  filter: Filter,
  beginning: string | null,
  limit: number,
) {
  const counts = { model: none(), channel: none(), key: none(), user: none(), team: none() };
  for (const dimension of nameDimensions) {
    const beginnings = {
      ...filter.beginnings,
      ...(beginning !== null && { [dimension]: beginning }),
    };
    const { groups } = await groupUsage(db, {
      ...filter,
      beginnings,
      by: [dimension],
      metric: 'requests',
      first: limit,
      timeZone: 'UTC',
    });
    const found = groups.flatMap(({ names: [name], requests }) =>
      // Empty: no name to filter by. Without requests: a channel that was asked and never answered.
      typeof name === 'string' && name !== '' && requests > 0 ? [{ name, requests }] : [],
    );
    const shown = await namesOf(
      db,
      dimension,
      found.map(({ name }) => name),
    );
    counts[dimension] = found.map(({ name, requests }) => ({
      value: shown.get(name) ?? name,
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

const none = (): { value: string; count: number }[] => [];
