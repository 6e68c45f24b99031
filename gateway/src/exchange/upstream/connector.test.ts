import { describe, expect, test } from 'vitest';
import { InterimResponses } from './connector.ts';

const response = 'HTTP/1.1 200 OK\r\ncontent-length: 14\r\n\r\nHTTP/1.1 100 \r';

/** What is left of the text, given in pieces of this size. */
function rewritten(text: string, size: number): string {
  const interim = new InterimResponses();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) {
    if (interim.rewrite(bytes.subarray(at, at + size))) break;
  }
  return bytes.toString();
}

const cases: Record<string, readonly [string, string]> = {
  'a response alone, whatever its body': [response, response],
  'a 100': [`HTTP/1.1 100 Continue\r\n\r\n${response}`, `HTTP/1.1 102 Continue\r\n\r\n${response}`],
  'two of them, one with a field, and another interim response': [
    `HTTP/1.1 100 \r\nserver: x\r\n\r\nHTTP/1.1 103 \r\n\r\nHTTP/1.0 100 \r\n\r\n${response}`,
    `HTTP/1.1 102 \r\nserver: x\r\n\r\nHTTP/1.1 103 \r\n\r\nHTTP/1.0 102 \r\n\r\n${response}`,
  ],
  'a 101 is left alone': ['HTTP/1.1 101 \r\n\r\n', 'HTTP/1.1 101 \r\n\r\n'],
  'so is malformed HTTP': ['HTTP 100 \r\n\r\n', 'HTTP 100 \r\n\r\n'],
};

describe.each(Object.entries(cases))('%s', (_name, [before, after]) => {
  test.each([1, 2, 3, 5, 7, 11, 1_000])('in pieces of %d bytes', (size) => {
    expect(rewritten(before, size)).toBe(after);
  });
});

test('each request has interim responses of its own', () => {
  const interim = new InterimResponses();
  expect(interim.rewrite(Buffer.from('HTTP/1.1 10'))).toBe(false);
  interim.reset();
  const bytes = Buffer.from('HTTP/1.1 100 ');
  expect(interim.rewrite(bytes)).toBe(false);
  expect(bytes.toString()).toBe('HTTP/1.1 102 ');
});
