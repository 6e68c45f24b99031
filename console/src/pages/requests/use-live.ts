import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { searchText, type Query } from '../../api/client.ts';
import { sessionQuery } from '../../app/session.ts';
import { changes, nothing, type Live } from './live-rows.ts';

/** Milliseconds between two drawings: a hundred requests a second must not swim. */
const pace = 300;

/** Follows the requests of this gateway while `isOn`. */
export function useLive(query: Query<'watchUsage'>, isOn: boolean): Live {
  const [live, setLive] = useState(nothing);
  const client = useQueryClient();
  const address = searchText(query);
  useEffect(() => {
    if (!isOn) return undefined;
    let now = nothing;
    const draw = () => setLive(now);
    draw();
    const source = new EventSource(`/admin/v1/usage/live?${address}`);
    for (const [name, change] of Object.entries(changes)) {
      source.addEventListener(name, ({ data }: MessageEvent<string | undefined>) => {
        now = change(now, (data === undefined ? null : JSON.parse(data)) as never);
      });
    }
    source.addEventListener('open', draw);
    source.addEventListener('error', () => {
      draw();
      // A refusal closes it for good; whether the session is over is asked elsewhere.
      if (source.readyState === EventSource.CLOSED) void client.invalidateQueries(sessionQuery);
    });
    const timer = setInterval(draw, pace);
    return () => {
      source.close();
      clearInterval(timer);
    };
  }, [address, isOn, client]);
  return live;
}
