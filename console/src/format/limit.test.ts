import { expect, test } from 'vitest';
import { limitState } from './limit.ts';

const window = { from: '2026-11-01T00:00:00Z', to: '2026-12-01T00:00:00Z' };
const at = Date.parse('2026-11-16T00:00:00Z');

test.each([
  ['half of it at half of the time', '100', '50', '0', 'within', '50', null],
  ['more than half of it', '100', '75', '5.5', 'early', '19.5', '2026-11-21T00:00:00.000Z'],
  ['all of it', '100', '100', '0', 'used-up', '0', null],
  ['more than all of it', '100', '100.000000001', '0', 'used-up', '0', null],
  ['more than all of it with what is held', '100', '90', '20', 'used-up', '0', null],
  ['all of it held', '100', '99', '1', 'used-up', '0', null],
  ['a limit of nothing', '0', '0', '0', 'used-up', '0', null],
  ['the smallest rest', '100', '10', '89.999999999', 'within', '0.000000001', null],
])('%s', (_what, limit, spent, held, pace, left, reached) => {
  const state = limitState({ limit, spent, held, window }, at);
  expect([state.pace, state.left, state.now]).toEqual([pace, left, 0.5]);
  const { reachedAt } = state;
  expect(reachedAt === null ? null : new Date(reachedAt).toISOString()).toBe(reached);
  expect(state.spentPart + state.heldPart).toBeLessThanOrEqual(1);
});

test('without a window there is no pace', () => {
  const limit = { limit: '100', spent: '99', held: '0', window: null };
  expect(limitState(limit, at)).toMatchObject({ pace: 'within', now: null, reachedAt: null });
});

test('a window that has just begun says nothing of the pace', () => {
  const limit = { limit: '100', spent: '60', held: '0', window };
  expect(limitState(limit, Date.parse('2026-11-01T01:00:00Z')).pace).toBe('within');
});
