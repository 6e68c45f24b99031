import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorState, Skeleton } from './states.tsx';

interface Props {
  readonly list: Pick<
    UseInfiniteQueryResult,
    | 'isError'
    | 'isPending'
    | 'isSuccess'
    | 'isPlaceholderData'
    | 'error'
    | 'refetch'
    | 'hasNextPage'
    | 'isFetchingNextPage'
    | 'fetchNextPage'
  >;
  readonly isEmpty: boolean;
  /** What stands there instead of an empty list. */
  readonly empty: ReactNode;
  /** The text of the button for the next page. */
  readonly more: string;
  /** Rows while it is loaded. */
  readonly rows?: number;
  /** What is said below the list. */
  readonly note?: string;
  readonly children: ReactNode;
}

/** A list that comes page by page, and what stands there while it does not. */
export function PagedList({ list, isEmpty, empty, more, rows = 8, note, children }: Props) {
  return (
    <>
      {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {(list.isPending || (isEmpty && list.hasNextPage)) && <Skeleton rows={rows} />}
      {list.isSuccess && isEmpty && !list.hasNextPage && <div className="state">{empty}</div>}
      {!isEmpty && (
        <div className={list.isPlaceholderData ? 'stale' : undefined}>
          {children}
          {(list.hasNextPage || note !== undefined) && (
            <p className="list-end">
              {list.hasNextPage && (
                <button
                  type="button"
                  className="button"
                  disabled={list.isFetchingNextPage}
                  onClick={() => void list.fetchNextPage()}
                >
                  {more}
                </button>
              )}
              {note !== undefined && <span className="quiet">{note}</span>}
            </p>
          )}
        </div>
      )}
    </>
  );
}
