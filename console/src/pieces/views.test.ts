import { expect, test } from 'vitest';
import { viewLink, viewText } from './views.ts';

test.each([
  { filter: 'model:"a b" cost:>0.1 &=', range: '7d', live: true },
  { filter: '12', from: '2026-11-25T00:00:00.000Z', to: '2026-11-26T00:00:00.000Z' },
  { tab: 'audit', actor: 'ada', by: 'person' },
  {},
])('a kept view of %j is the same view again, without what was open', (search) => {
  const text = viewText({ ...search, open: 'req_1', task: 'task_1', tz: 'UTC' });
  const view = { name: 'mine', page: 'records' as const, search: text };
  expect(viewLink(view)).toEqual({ to: '/records', search });
});

test('a view that names no page is one of requests, as they were kept before', () => {
  expect(viewLink({ name: 'mine', search: 'filter=key%3Aadmins&live=true' })).toEqual({
    to: '/requests',
    search: { filter: 'key:admins', live: true },
  });
});
