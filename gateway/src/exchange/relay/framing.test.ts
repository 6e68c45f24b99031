import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFraming } from './stream-sink.ts';

const text = (parts: readonly (Buffer | string)[]) => parts.map(String).join('');

test('a JSON array is whole after every number of events', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { maxLength: 6 }), (values) => {
      const framing = createFraming('json-array');
      let body = '';
      for (const value of values) {
        body += framing.keepAlive(': keep-alive\n\n');
        body += text(framing.frame(Buffer.from(`data: ${JSON.stringify(value)}\n\n`)));
      }
      body += framing.closing();
      expect(JSON.parse(body)).toEqual(JSON.parse(JSON.stringify(values)));
    }),
  );
});

test('comments are no elements, and several data lines are one', () => {
  const framing = createFraming('json-array');
  expect(framing.frame(Buffer.from(': hello\n\n'))).toEqual([]);
  const body =
    text(framing.frame(Buffer.from('data: {"a":\r\ndata:1}\r\n\r\n'))) + framing.closing();
  expect(JSON.parse(body)).toEqual([{ a: 1 }]);
});

test('events of an event stream stay the bytes they were', () => {
  const framing = createFraming('event-stream');
  const event = Buffer.from('event: x\ndata: {}\n\n');
  expect(framing.frame(event)).toEqual([event]);
  expect(framing.closing()).toBe('');
});

test.each(['\n', '\r\n', '\r'])('lines end in %j', (end) => {
  const framing = createFraming('json-array');
  const events = ['data: {"a":', 'data: 1}', '', 'event: x', 'data:2', '', 'data:', '', ''];
  const body = text(framing.frame(Buffer.from(events.join(end)))) + framing.closing();
  expect(JSON.parse(body)).toEqual([{ a: 1 }, 2]);
});
