import { expect, test } from 'vitest';
import {
  estimateInputTokens as estimate,
  estimateOutputTokens,
  estimateTokens,
} from './token-estimate.ts';

const extent = { images: 0, named: 0, imageBytes: 0, unseen: false, hostedTools: false };
const estimateInputTokens = (json: Record<string, unknown>, named = 0): number =>
  estimate({ json, extent: { ...extent, named } });

test('four bytes are a token, and a part of one counts whole', () => {
  expect(estimateTokens(0)).toBe(0);
  expect(estimateTokens(1)).toBe(1);
  expect(estimateTokens(8)).toBe(2);
});

test('a request counts what it says, not how it is framed', () => {
  const said = { messages: [{ role: 'user', content: 'x'.repeat(40) }] };
  expect(estimateInputTokens(said)).toBe(10);
  expect(estimateInputTokens({ ...said, model: 'a-model-with-a-long-name' })).toBe(10);
  expect(estimateInputTokens({ ...said, tools: [{ name: 'yyyy', schema: { a: 'zzzz' } }] })).toBe(
    12,
  );
});

test('an image is not read as text, however large', () => {
  const image = {
    type: 'image_url',
    image_url: { url: `data:image/png;base64,${'A'.repeat(9e5)}` },
  };
  expect(estimateInputTokens({ messages: [{ content: [image] }] })).toBe(1_000);
  expect(estimateInputTokens({ data: 'B'.repeat(9e5) })).toBe(1_000);
});

test('what is only named is no less', () => {
  const image = { type: 'image_url', image_url: { url: 'https://a.example/12345' } };
  expect(estimateInputTokens({ messages: [{ content: [image, image] }] }, 2)).toBe(2_012);
});

test('long prose is text', () => {
  expect(estimateInputTokens({ content: 'some words '.repeat(1_000) })).toBe(2_750);
});

test.each([
  ['chat', { choices: [{ message: { role: 'assistant', content: 'x'.repeat(40) } }] }],
  [
    'responses',
    { output: [{ type: 'message', content: [{ type: 'output_text', text: 'x'.repeat(40) }] }] },
  ],
  ['messages', { content: [{ type: 'text', text: 'x'.repeat(40) }], stop_reason: 'end_turn' }],
  ['generate-content', { candidates: [{ content: { parts: [{ text: 'x'.repeat(40) }] } }] }],
])('an answer of %s counts its content', (_protocol, answer) => {
  expect(estimateOutputTokens({ id: 'something', model: 'other', ...answer })).toBe(10);
});

test('nonsense is nothing', () => {
  expect(estimateOutputTokens('text')).toBe(0);
  expect(estimateOutputTokens(null)).toBe(0);
});
