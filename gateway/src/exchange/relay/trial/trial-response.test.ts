import { expect, test, vi } from 'vitest';
import { TrialResponse } from './trial-response.ts';

const delta = (value: object) => `data: ${JSON.stringify({ choices: [{ delta: value }] })}\n\n`;

/** @param size of the pieces in which a body arrives */
function receive(body: string, size: number): { response: TrialResponse; steps: string[] } {
  const steps: string[] = [];
  const response = new TrialResponse((step) => steps.push(step));
  for (let at = 0; at < body.length; at += size) response.write(body.slice(at, at + size));
  response.end();
  return { response, steps: [...new Set(steps)] };
}

test.each([1, 7, 10_000])('words are read from pieces of any size (%i)', (size) => {
  const body = `${delta({ role: 'assistant' })}${delta({ content: 'O' })}${delta({ content: 'K' })}data: [DONE]\n\n`;
  const { response, steps } = receive(body, size);
  expect([response.text, steps]).toEqual(['OK', ['first_token', 'end']]);
});

test.each([
  [delta({ tool_calls: [{}] }), '(a call of the tool)', ''],
  [delta({ reasoning_content: 'hm' }), '(only reasoning)', ''],
  ['{"error":\n{"message":"no"}}', '', 'no'],
  ['data: {"error":{"message":"no"}}\n\n', '', 'no'],
  ['<html>\n', '', ''],
])('%j says %j, and fails with %j', (body, text, errorMessage) => {
  expect(receive(body, 3).response).toMatchObject({ text, errorMessage });
});

test('each line is parsed once, however small the pieces are', () => {
  const parse = vi.spyOn(JSON, 'parse');
  receive(delta({}).repeat(500), 5);
  const calls = parse.mock.calls.length;
  parse.mockRestore();
  // The lines, and the body outside of events.
  expect(calls).toBe(501);
});
