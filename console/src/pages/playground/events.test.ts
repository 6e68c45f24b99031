import { expect, test } from 'vitest';
import { eventData } from './events.ts';

async function read(...chunks: readonly (string | Uint8Array)[]): Promise<string[]> {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) {
        controller.enqueue(typeof chunk === 'string' ? encoder.encode(chunk) : chunk);
      }
      controller.close();
    },
  });
  return Array.fromAsync(eventData(body));
}

test('events are read whatever ends their lines, and wherever they are cut', async () => {
  const text =
    'event: a\ndata: {"a":1}\n\n: comment\r\ndata: one\r\ndata:two\r\n\r\ndata: [DONE]\n\n';
  const whole = ['{"a":1}', 'one\ntwo', '[DONE]'];
  expect(await read(text)).toEqual(whole);
  for (let at = 1; at < text.length; at += 1) {
    expect([at, await read(text.slice(0, at), text.slice(at))]).toEqual([at, whole]);
  }
});

test('a character that is cut in two is one character', async () => {
  const bytes = new TextEncoder().encode('data: 密钥\n\n');
  expect(await read(bytes.slice(0, 7), bytes.slice(7))).toEqual(['密钥']);
});

test('what came of a stream that was cut is there', async () => {
  expect(await read('data: one\n\ndata: tw')).toEqual(['one', 'tw']);
});
