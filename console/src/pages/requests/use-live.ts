import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { searchText, type Query } from '../../api/client.ts';
import { sessionQuery } from '../../app/session.ts';
import type { Row } from './page.tsx';

/** A request that has not ended. */
export type Started = Pick<Row, 'id' | 'time' | 'key' | 'user' | 'model'>;

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

const nothing: Live = { rows: [], running: [], dropped: 0, isWhole: true, state: 'opening' };
/** Rows that stay on the page. */
const most = 200;
/** Milliseconds between two drawings: a hundred requests a second must not swim. */
const pace = 300;

/** Follows the requests of this gateway while `isOn`. */
export function useLive(query: Query<'watchUsage'>, isOn: boolean): Live {
  const [live, setLive] = useState(nothing);
  const client = useQueryClient();
  const address = searchText(query);
  useEffect(() => {
    if (!isOn) return undefined;
    setLive(nothing);
    const source = new EventSource(`/admin/v1/usage/live?${address}`);
    let finished: Row[] = [];
    let started: Started[] = [];
    let dropped = 0;
    source.addEventListener('started', ({ data }: MessageEvent<string>) =>
      started.push(JSON.parse(data) as Started),
    );
    source.addEventListener('finished', ({ data }: MessageEvent<string>) =>
      finished.push(JSON.parse(data) as Row),
    );
    source.addEventListener('dropped', ({ data }: MessageEvent<string>) => {
      dropped += (JSON.parse(data) as { readonly count: number }).count;
    });
    source.addEventListener('scope', ({ data }: MessageEvent<string>) => {
      const { all: isWhole } = JSON.parse(data) as { readonly all: boolean };
      setLive((now) => ({ ...now, isWhole }));
    });
    source.addEventListener('open', () => setLive((now) => ({ ...now, state: 'open' })));
    source.addEventListener('error', () => {
      setLive((now) => ({ ...now, state: 'lost' }));
      // A refusal closes it for good; whether the session is over is asked elsewhere.
      if (source.readyState === EventSource.CLOSED) void client.invalidateQueries(sessionQuery);
    });
    const timer = setInterval(() => {
      if (finished.length + started.length + dropped === 0) return;
      const [rows, begun, left] = [finished.toReversed(), started, dropped];
      finished = [];
      started = [];
      dropped = 0;
      const ended = new Set(rows.map(({ id }) => id));
      setLive((now) => ({
        ...now,
        rows: [...rows, ...now.rows.filter(({ id }) => !ended.has(id))].slice(0, most),
        // After rows were left out nobody knows which of these have ended.
        running:
          left > 0 ? [] : [...now.running, ...begun].filter(({ id }) => !ended.has(id)).slice(-100),
        dropped: now.dropped + left,
      }));
    }, pace);
    return () => {
      source.close();
      clearInterval(timer);
    };
  }, [address, isOn, client]);
  return live;
}
