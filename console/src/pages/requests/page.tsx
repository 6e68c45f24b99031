import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { read, type Query, type Result } from '../../api/client.ts';
import { defaultRange } from '../../app/range.ts';
import { useSpan } from '../../app/use-span.ts';
import { useSession } from '../../app/session.ts';
import { FilterKey } from '../../pieces/cell-filter.tsx';
import { ColumnsMenu } from '../../pieces/columns-menu.tsx';
import { RangeSegments } from '../../pieces/range-segments.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { useKeys } from '../../pieces/use-keys.ts';
import { ViewsMenu } from '../../pieces/views-menu.tsx';
import { useWords } from '../../words/index.ts';
import type { RequestsSearch } from '../../app/router.tsx';
import { ExportLink } from './export-link.tsx';
import { filterProblemOf, filterWords, withWord } from './filter.ts';
import { FilterLine } from './filter-line.tsx';
import { Histogram } from './histogram.tsx';
import { LiveLine } from './live-line.tsx';
import styles from './page.module.css';
import { RequestPanel } from './request-panel.tsx';
import { hideableColumns, RequestTable } from './table.tsx';
import { useLive } from './use-live.ts';

export type Row = Result<'listUsage'>['data'][number];

/** The list of requests, with one of them in a panel. Filter, range and panel are in the address. */
export function RequestsPage() {
  const say = useWords();
  const navigate = useNavigate();
  const search = useSearch({ from: '/inside/requests' });
  const { range = defaultRange, filter = '', open } = search;
  // Of the moment at which the list was asked for: pages of one list share a beginning.
  const span = useSpan(search);
  const isLive = search.live === true;
  const words = filter === '' ? {} : { filter };
  const ofSpan = {
    ...words,
    from: span.from,
    ...(span.to !== undefined && { to: span.to }),
  };
  const list = useInfiniteQuery({
    queryKey: ['usage', span.name, filter],
    // Beside live rows it only says whether the filter can be read.
    enabled: !isLive || filter !== '',
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const query: Query<'listUsage'> = {
        ...ofSpan,
        ...(pageParam !== undefined && { cursor: pageParam }),
      };
      return read<'listUsage'>('/usage', query, signal);
    },
    getNextPageParam: ({ next }) => next ?? undefined,
    placeholderData: (previous) => previous,
    refetchInterval: ({ state }) =>
      isLive ? false : (state.data?.pages.length ?? 0) > 1 ? false : 5_000,
  });
  const listed = useMemo(() => list.data?.pages.flatMap(({ data }) => data) ?? [], [list.data]);
  const live = useLive(words, isLive && !list.isError);
  // What had come when it was paused; an open request pauses too, so that rows stay where they are.
  const [held, setHeld] = useState<readonly Row[] | null>(null);
  const rows = isLive ? (held ?? live.rows) : listed;
  const waiting = held === null ? 0 : countNew(live.rows, held);
  const [focused, setFocused] = useState<string | null>(open ?? null);

  const show = (id: string | undefined): void => {
    if (id !== undefined) setFocused(id);
    if (id !== undefined && isLive) setHeld(rows);
    const { open: _open, ...rest } = search;
    void navigate({ to: '/requests', search: id === undefined ? rest : { ...rest, open: id } });
  };
  const filterBy = (line: string): void => {
    const { filter: _filter, open: _open, ...rest } = search;
    void navigate({ to: '/requests', search: line === '' ? rest : { ...rest, filter: line } });
  };
  const onFilter = (word: string, isExcluded: boolean) =>
    filterBy(withWord(filter, word, isExcluded));
  // The focus returns to the row of the panel that was closed.
  const last = useRef(open);
  useEffect(() => {
    const closed = last.current;
    last.current = open;
    if (closed === undefined || open !== undefined) return;
    document.querySelector<HTMLElement>(`tr a[href$="/requests/${closed}"]`)?.focus();
  }, [open]);
  const step = (by: 1 | -1): void => {
    const at = rows.findIndex(({ id }) => id === (open ?? focused));
    const next = rows[at === -1 ? 0 : at + by];
    if (next === undefined) return;
    if (open === undefined) setFocused(next.id);
    else show(next.id);
  };

  useKeys({
    j: () => step(1),
    k: () => step(-1),
    Enter: () => focused !== null && open === undefined && show(focused),
    Escape: () => open !== undefined && show(undefined),
    '/': () => document.getElementById('filter')?.focus(),
  });

  return (
    <>
      <header className="top">
        <h1>{say('requests.title')}</h1>
        {!isLive && <RangeSegments range={range} />}
      </header>
      <div className={styles['tools']}>
        <nav className="segments" aria-label={say('data.kindOfList')}>
          <Link
            to="/requests"
            search={({ live: _live, open: _open, ...rest }: RequestsSearch) => rest}
            // Otherwise every address with more in it, such as the live one, would make it current.
            activeOptions={{ exact: true }}
            aria-current={isLive ? undefined : 'true'}
          >
            {say('data.history')}
          </Link>
          <Link
            to="/requests"
            search={({ open: _open, ...rest }: RequestsSearch) => ({
              ...rest,
              live: true as const,
            })}
            aria-current={isLive ? 'true' : undefined}
          >
            {say('data.live')}
          </Link>
        </nav>
        <FilterLine
          span={span}
          key={filter}
          filter={filter}
          error={list.error}
          onChange={filterBy}
        />
        <ViewsMenu page="requests" search={search} />
        <ColumnsMenu
          table="requests"
          className={styles['columns']}
          columns={Object.fromEntries(
            hideableColumns.map((name) => [name, say(`requests.columns.${name}`)]),
          )}
        />
        {!isLive && !list.isError && <ExportLink query={ofSpan} />}
      </div>
      {!isLive && !list.isError && open === undefined && (
        <div className={styles['chart']}>
          <Histogram
            query={ofSpan}
            span={span}
            filter={filter}
            onBrush={(from, to) =>
              void navigate({ to: '/requests', search: { ...search, from, to } })
            }
          />
        </div>
      )}
      <div className={open === undefined ? styles['whole'] : styles['split']}>
        <section className={styles['list']} aria-label={say('requests.list')}>
          {isLive && (
            <LiveLine
              live={live}
              waiting={waiting}
              isHeld={held !== null}
              onHold={() => setHeld(live.rows)}
              onFollow={() => setHeld(null)}
            />
          )}
          {!isLive && list.isError && rows.length === 0 && filterProblemOf(list.error) === null && (
            <ErrorState error={list.error} onRetry={() => void list.refetch()} />
          )}
          {!isLive && list.isPending && <Skeleton rows={12} />}
          {!isLive && list.isSuccess && rows.length === 0 && <Empty isFiltered={filter !== ''} />}
          {rows.length > 0 && (
            <>
              <RequestTable
                rows={rows}
                open={open}
                focused={focused}
                isNarrow={open !== undefined}
                onOpen={show}
                onFilter={onFilter}
              />
              <FilterKey onFilter={onFilter} />
              {!isLive && (
                <p className={styles['end']}>
                  {list.hasNextPage ? (
                    <button
                      type="button"
                      className="button"
                      disabled={list.isFetchingNextPage}
                      onClick={() => void list.fetchNextPage()}
                    >
                      {say('requests.more')}
                    </button>
                  ) : (
                    <span className="quiet">{say('requests.end')}</span>
                  )}
                </p>
              )}
            </>
          )}
        </section>
        {open !== undefined && (
          <RequestPanel id={open} onClose={() => show(undefined)} onStep={step} />
        )}
      </div>
    </>
  );
}

/** How many rows have come that are not shown yet. */
function countNew(rows: readonly Row[], held: readonly Row[]): number {
  const [last] = held;
  const at = last === undefined ? -1 : rows.findIndex(({ id }) => id === last.id);
  return at === -1 ? rows.length : at;
}

function Empty({ isFiltered }: { readonly isFiltered: boolean }) {
  const say = useWords();
  const { gateway } = useSession();
  if (isFiltered) return <p className="state">{say('requests.noMatch')}</p>;
  return (
    <div className="state">
      <p className="strong">{say('requests.empty')}</p>
      <p>{say('requests.emptyHint')}</p>
      <code className="code">
        {`curl ${gateway.url}/v1/chat/completions -H 'authorization: Bearer $SLUICE_KEY' -H 'content-type: application/json' -d '{"model":"demo-chat","messages":[{"role":"user","content":"Hello!"}]}'`}
      </code>
      <p className="quiet">{say('requests.filterWords', { words: filterWords.join(', ') })}</p>
    </div>
  );
}
