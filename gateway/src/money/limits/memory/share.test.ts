import { expect, test } from 'vitest';
import { createShare } from './share.ts';

test.each([
  // A count of nodes that cannot be is one node.
  { nodes: 0, limit: 10, admitted: 10 },
  { nodes: 1, limit: 10, admitted: 10 },
  { nodes: 1.9, limit: 10, admitted: 10 },
  { nodes: 2, limit: 10, admitted: 5 },
  { nodes: 3, limit: 10, admitted: 3 },
  { nodes: 100, limit: 10, admitted: 1 },
  { nodes: 1, limit: 0, admitted: 0 },
  { nodes: 2, limit: 0, admitted: 0 },
])('one of $nodes nodes admits $admitted of $limit', ({ nodes, limit, admitted }) => {
  const share = createShare({ monotonic: () => 0, liveNodes: () => nodes });
  const limits = [{ name: 'key:1:rpm', limit, windowMs: 60_000 }];
  const decisions = Array.from({ length: 12 }, (_, at) =>
    share.checkRates({ id: `${at}`, limits }),
  );
  expect(decisions.filter((decision) => decision.admitted)).toHaveLength(admitted);
});

test('what was admitted while it was alone counts against its share', () => {
  let nodes = 1;
  const share = createShare({ monotonic: () => 0, liveNodes: () => nodes });
  const limits = [{ name: 'key:1:rpm', limit: 10, windowMs: 60_000 }];
  for (let id = 0; id < 5; id += 1) share.checkRates({ id: `${id}`, limits });
  nodes = 2;
  expect(share.checkRates({ id: 'next', limits })).toMatchObject({ admitted: false });
});
