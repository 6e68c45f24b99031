import { expect, test } from 'vitest';
import { GatewayError } from './gateway-error.ts';

test('client text in an error is short and printable', () => {
  const key = `a\u0000\ud800${'k'.repeat(1_000_000)}`;
  const error = new GatewayError('duplicate_key', { values: { key }, param: key });
  const written = `a\ufffd\ufffd${'k'.repeat(197)}…`;
  expect(error.message).toBe(`invalid request body: duplicate key '${written}'`);
  expect(error.param).toBe(written);
});

test('the character at the cut is whole or removed', () => {
  const key = `${'k'.repeat(199)}🙂`;
  const { param } = new GatewayError('duplicate_key', { values: { key }, param: key });
  expect(param).toBe(`${'k'.repeat(199)}\ufffd…`);
});
