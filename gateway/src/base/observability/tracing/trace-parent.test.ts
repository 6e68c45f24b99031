import { expect, test } from 'vitest';
import { parseTraceparent } from './trace-parent.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

test.each([
  ['00', '01', '', 1],
  ['00', '00', '', 0],
  ['00', '03', '', 1],
  ['01', '01', '-what-comes-later', 1],
])('a valid one: version %s, flags %s', (version, flags, rest, traceFlags) => {
  const parsed = parseTraceparent(`${version}-${traceId}-${spanId}-${flags}${rest}`, 'vendor=1');
  expect(parsed).toMatchObject({ traceId, spanId, traceFlags, isRemote: true });
  expect(parsed?.traceState?.get('vendor')).toBe('1');
});

test.each([
  undefined,
  '',
  'nonsense',
  [`00-${traceId}-${spanId}-01`],
  `ff-${traceId}-${spanId}-01`,
  `00-${traceId}-${spanId}-01-more`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${traceId}-${spanId}`,
  ` 00-${traceId}-${spanId}-01`,
  `01-${traceId}-${spanId}-01-${'x'.repeat(5000)}`,
])('%s is ignored', (text) => {
  expect(parseTraceparent(text, undefined)).toBeNull();
});

test('an overlong tracestate is dropped', () => {
  const parsed = parseTraceparent(`00-${traceId}-${spanId}-01`, `vendor=${'x'.repeat(600)}`);
  expect(parsed).toMatchObject({ traceId, spanId });
  expect(parsed?.traceState).toBeUndefined();
});
