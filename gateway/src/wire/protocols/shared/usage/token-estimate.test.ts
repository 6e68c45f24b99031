import { expect, test } from 'vitest';
import {
  estimateInputTokens as estimate,
  estimateOutputTokens,
  estimateTokens,
} from './token-estimate.ts';
import { textProtocols } from '../../index.ts';

const estimateInputTokens = (json: Record<string, unknown>): number => {
  const { openRequest, readRequest } = textProtocols.chat;
  const path = { operation: 'generate', model: null, stream: null } as const;
  return estimate(readRequest(openRequest(Buffer.from(JSON.stringify(json)), path)));
};
/** What a conversation takes besides its one message. */
const frame = (content: unknown) => ({ model: 'm', messages: [{ role: 'user', content }] });
const framed = estimateInputTokens(frame(''));

test('four bytes are a token, and a part of one counts whole', () => {
  expect(estimateTokens(0)).toBe(0);
  expect(estimateTokens(1)).toBe(1);
  expect(estimateTokens(8)).toBe(2);
});

test('a request counts all of its text', () => {
  expect(estimateInputTokens(frame('x'.repeat(4_000)))).toBe(framed + 1_000);
  expect(estimateInputTokens(frame('some words '.repeat(1_000)))).toBe(framed + 2_750);
});

test('names of members are text as everything else', () => {
  const parameters = { type: 'object', properties: { ['k'.repeat(40_000)]: {} } };
  const tools = [{ type: 'function', function: { name: 'f', parameters } }];
  expect(estimateInputTokens({ ...frame(''), tools })).toBeGreaterThan(framed + 10_000);
});

test.each([
  ['underscores', '_'],
  ['letters', 'A'],
  ['digits', '1'],
])('a text of %s is no medium', (_name, letter) => {
  expect(estimateInputTokens(frame(letter.repeat(400_000)))).toBe(framed + 100_000);
  expect(estimateInputTokens(frame(`data:image/png;base64,${letter.repeat(400_000)}`))).toBe(
    framed + 100_006,
  );
});

test('an image is not read as text, however large', () => {
  const image = {
    type: 'image_url',
    image_url: { url: `data:image/png;base64,${'A'.repeat(9e5)}` },
  };
  const taken = estimateInputTokens(frame([image])) - framed;
  expect(taken).toBeGreaterThanOrEqual(1_000);
  expect(taken).toBeLessThan(1_020);
});

test('media by address take what they take', () => {
  const image = { type: 'image_url', image_url: { url: 'https://a.example/12345' } };
  const file = { type: 'file', file: { file_id: 'file-1' } };
  expect(estimateInputTokens(frame([image, image, file]))).toBeGreaterThan(framed + 3_000);
});

test('a document takes more the longer it is, and less than its bytes as text', () => {
  const file = (bytes: number) => ({
    type: 'file',
    file: { file_data: `data:application/pdf;base64,${'A'.repeat(bytes)}` },
  });
  expect(estimateInputTokens(frame([file(320)])) - framed).toBeGreaterThanOrEqual(1_000);
  const long = estimateInputTokens(frame([file(3_200_000)])) - framed;
  expect(long).toBeGreaterThan(100_000);
  expect(long).toBeLessThan(110_000);
});

test.each([
  ['chat', { choices: [{ message: { role: 'assistant', content: 'x'.repeat(40) } }] }],
  [
    'responses',
    { output: [{ type: 'message', content: [{ type: 'output_text', text: 'x'.repeat(40) }] }] },
  ],
  ['messages', { content: [{ type: 'text', text: 'x'.repeat(40) }], stop_reason: 'end_turn' }],
  ['generate-content', { candidates: [{ content: { parts: [{ text: 'x'.repeat(40) }] } }] }],
])('a response of %s counts its content', (_protocol, response) => {
  expect(estimateOutputTokens({ id: 'something', model: 'other', ...response })).toBe(10);
});

test('nonsense counts as 0', () => {
  expect(estimateOutputTokens('text')).toBe(0);
  expect(estimateOutputTokens(null)).toBe(0);
});
