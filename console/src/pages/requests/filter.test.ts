import { expect, it } from 'vitest';
import { readFilter } from './filter.ts';

it.each([
  ['', {}],
  ['model:demo-chat status:4xx', { model: 'demo-chat', status: '4xx' }],
  ['cost:>0.01 ms:>=500', { min_cost: '0.01', min_ms: '500' }],
  ['key:"my laptop"', { key: 'my laptop' }],
  ['  user:ada@example.com  ', { user: 'ada@example.com' }],
  ['model:a:b', { model: 'a:b' }],
  ['model:', {}],
])('reads %j', (line, query) => {
  expect(readFilter(line)).toEqual({ kind: 'read', query });
});

it.each(['demo-chat', 'price:1', '__proto__:x', 'constructor:x'])('does not know %j', (line) => {
  expect(readFilter(line)).toEqual({ kind: 'unknown', word: line });
});
