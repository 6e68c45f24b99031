import { describe, expect, test } from 'vitest';
import { MediaWanted } from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import { parseExact, UnreadableResponse } from '#protocols/index.ts';
import { ownBytes, pack, unpack } from './transfer.ts';

function cross<Value extends object>(value: Value, lent: readonly Uint8Array[] = []): Value {
  const { message, transfer } = pack(value, lent);
  return unpack(structuredClone(message, { transfer })) as Value;
}

describe('bytes', () => {
  test('that are parts of a body are parts of it afterwards, and nothing is copied', () => {
    const body = ownBytes(Buffer.from('{"picture":"AAAA"}'));
    const sources = [{ mime: null, base64: body.subarray(12, 16) }];
    const there = cross({ body, found: new Map([['a', { sources }]]) }, [body]);
    expect(body).toHaveLength(0);
    expect(String(there.body)).toBe('{"picture":"AAAA"}');
    const part = there.found.get('a')?.sources[0]?.base64;
    expect(String(part)).toBe('AAAA');
    expect(part?.buffer).toBe(there.body.buffer);
  });

  test('that share their memory with others are copied, and an empty constant may be sent again', () => {
    const small = Buffer.from('small');
    const empty = Buffer.alloc(0);
    for (let time = 0; time < 2; time += 1) {
      expect(cross({ small, empty })).toEqual({ small, empty });
    }
  });
});

test('numbers keep their digits', () => {
  const request = parseExact('{"maximum":12345678901234567890,"small":[1.5]}');
  expect(JSON.stringify(cross({ request }).request)).toBe(JSON.stringify(request));
});

test.each([
  new GatewayError('invalid_value', { values: { reason: 'no such fox' }, param: 'input.1' }),
  new GatewayError('invalid_value', {
    details: { error_code: 'x', unsupported: ['model'] },
    retryAfter: 3,
    headers: { allow: 'GET' },
  }),
  new MediaWanted([{ url: 'https://a.test/fox.png', kind: 'image' } as never]),
  new UnreadableResponse('not JSON', { error: { code: 'x' } }, null),
  new TypeError('a defect'),
])('%s crosses as a member of a value', (error) => {
  const there: Error = cross({ refusal: { error } }).refusal.error;
  const { stack: _, ...members } = error;
  expect(there.constructor).toBe(error.name === 'TypeError' ? Error : error.constructor);
  expect(there).toMatchObject({ ...members, message: error.message });
});

test('of a large error response only what is read crosses', () => {
  const body = { error: { code: 'x', message: 'm'.repeat(100_000) }, more: 'm'.repeat(100_000) };
  const there = cross({ error: new UnreadableResponse('failed', body) }).error;
  expect(there.body).toEqual({ error: { code: 'x', message: 'm'.repeat(4096) } });
});
