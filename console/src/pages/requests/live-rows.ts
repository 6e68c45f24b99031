import type { Row } from './page.tsx';

/** A request that has not ended. */
export type Started = Pick<Row, 'id' | 'time' | 'key' | 'user' | 'model'> & {
  /** The process; null: the one that serves the page. */
  readonly node: string | null;
};

export interface Live {
  /** Newest first. */
  readonly rows: readonly Row[];
  readonly running: readonly Started[];
  /** Requests that came too fast to be reported. */
  readonly dropped: number;
  /** Whether they are of all nodes, or of the one that serves the page. */
  readonly isWhole: boolean;
  readonly state: 'opening' | 'open' | 'lost';
}

export const nothing: Live = {
  rows: [],
  running: [],
  dropped: 0,
  isWhole: true,
  state: 'opening',
};

/** Rows that stay on the page. */
const most = 200;

/** What each event of the stream does to the page, by its name. */
export const changes = {
  // What ended while the connection was lost is brought only if this process heard of it.
  open: (live) => ({ ...live, running: [], state: 'open' }),
  error: (live) => ({ ...live, state: 'lost' }),
  scope: (live, { all }: { readonly all: boolean }) => ({ ...live, isWhole: all }),
  started: (live, row: Started) => ({ ...live, running: [...live.running, row].slice(-100) }),
  finished: (live, row: Row) => ({
    ...without(live, row.id),
    rows: [row, ...live.rows.filter(({ id }) => id !== row.id)].slice(0, most),
  }),
  /** It is not for this filter, which was unknown while it ran. */
  ended: (live, { id }: { readonly id: string }) => without(live, id),
  gone: (live, { node }: { readonly node: string }) => ({
    ...live,
    running: live.running.filter((row) => row.node !== node),
  }),
  // Some of those that ran may have ended.
  dropped: (live, { count }: { readonly count: number }) => ({
    ...live,
    running: [],
    dropped: live.dropped + count,
  }),
} satisfies Record<string, (live: Live, data: never) => Live>;

const without = (live: Live, ended: string): Live => ({
  ...live,
  running: live.running.filter(({ id }) => id !== ended),
});
