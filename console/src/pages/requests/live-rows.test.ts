import { expect, test } from 'vitest';
import { changes, nothing, type Live, type Started } from './live-rows.ts';
import type { Row } from './page.tsx';

const started = (id: string, node: string | null = null) => ({ id, node }) as Started;
const row = (id: string) => ({ id }) as Row;
const running = [started('1'), started('2', 'a'), started('3', 'b')];
const live: Live = { ...nothing, state: 'lost', running, rows: [row('0')], dropped: 1 };

test.each<readonly [string, Live, readonly string[], object]>([
  ['a stream that opens again', changes.open(live), [], { state: 'open', dropped: 1 }],
  ['a lost stream', changes.error({ ...live, state: 'open' }), ['1', '2', '3'], { state: 'lost' }],
  ['a start', changes.started(live, started('4')), ['1', '2', '3', '4'], {}],
  ['an end', changes.finished(live, row('2')), ['1', '3'], { rows: [row('2'), row('0')] }],
  ['an end that is repeated', changes.finished(live, row('0')), ['1', '2', '3'], {}],
  ['an end of another filter', changes.ended(live, { id: '2' }), ['1', '3'], {}],
  ['a node that has died', changes.gone(live, { node: 'a' }), ['1', '3'], {}],
  ['rows that were left out', changes.dropped(live, { count: 2 }), [], { dropped: 3 }],
  ['fewer processes', changes.scope(live, { all: false }), ['1', '2', '3'], { isWhole: false }],
])('%s leaves what runs, as far as it is known', (_name, after, ids, more) => {
  expect(after.running.map(({ id }) => id)).toEqual(ids);
  expect(after).toEqual({ ...live, running: after.running, ...more });
});
