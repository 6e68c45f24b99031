import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';

interface Page<Item> {
  readonly data: readonly Item[];
  readonly next: string | null;
}

interface PagedListOptions<Item, Found extends Page<Item>> {
  readonly queryKey: readonly unknown[];
  /** Reads one page. @param cursor behind which it begins; undefined: at the first entry */
  readonly readPage: (cursor: string | undefined, signal: AbortSignal) => Promise<Found>;
  /** An order is one of all entries, so that all of them are read. */
  readonly isOrdered: boolean;
}

/** A list that the gateway gives page by page. While another one is read, the one before is shown. */
export function usePagedList<Item, Found extends Page<Item>>({
  queryKey,
  readPage,
  isOrdered,
}: PagedListOptions<Item, Found>) {
  const list = useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => readPage(pageParam, signal),
    getNextPageParam: ({ next }) => next ?? undefined,
    placeholderData: keepPreviousData,
  });
  const { hasNextPage, isFetching, isError, fetchNextPage } = list;
  const items: readonly Found['data'][number][] =
    list.data?.pages.flatMap(({ data }) => data) ?? [];
  // A page may be empty, and the next one not.
  const needsMore = (isOrdered || items.length === 0) && hasNextPage && !isFetching && !isError;
  useEffect(() => {
    if (needsMore) void fetchNextPage();
  }, [needsMore, fetchNextPage]);
  return { list, items };
}
