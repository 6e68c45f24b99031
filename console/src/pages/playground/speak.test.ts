import { expect, test } from 'vitest';
import { refusalText, speakers } from './speak.ts';

test('a delta is the text, the reasoning or the error of its protocol, and nothing else', () => {
  expect(
    speakers.chat.read({ choices: [{ delta: { content: 'a', reasoning_content: 'b' } }] }),
  ).toEqual({
    text: 'a',
    reasoning: 'b',
  });
  expect(speakers.messages.read({ delta: { type: 'thinking_delta', thinking: 'b' } })).toEqual({
    reasoning: 'b',
  });
  expect(speakers.responses.read({ type: 'response.output_text.delta', delta: 'a' })).toEqual({
    text: 'a',
  });
  // Its arguments are no text.
  expect(
    speakers.responses.read({ type: 'response.function_call_arguments.delta', delta: '{' }),
  ).toEqual({});
  expect(speakers.responses.read({ type: 'error', message: 'no' })).toEqual({ error: 'no' });
  const parts = [{ text: 'a' }, { text: 'b', thought: true }, { text: 'c' }];
  expect(speakers['generate-content'].read({ candidates: [{ content: { parts } }] })).toEqual({
    text: 'ac',
    reasoning: 'b',
  });
  for (const speaker of Object.values(speakers)) {
    for (const data of [null, 1, 'text', [], {}, { choices: null }, { delta: 7 }]) {
      expect(speaker.read(data)).toEqual({});
    }
  }
});

test('only a picture becomes the address of a picture', () => {
  const read = (mimeType: string, data: string) =>
    speakers['generate-content'].read({
      candidates: [{ content: { parts: [{ inlineData: { mimeType, data } }] } }],
    });
  expect(read('image/png', 'aGk=')).toEqual({ pictures: ['data:image/png;base64,aGk='] });
  expect(read('image/svg+xml', 'aGk=')).toEqual({});
  expect(read('text/html', 'aGk=')).toEqual({});
  expect(read('image/png', 'https://evil.invalid')).toEqual({});
});

test('a picture that the upstream keeps is a link', () => {
  const url = 'https://pictures.invalid/1.png';
  expect(speakers.images.read({ data: [{ url }, { b64_json: 'iVBORw0=' }] })).toEqual({
    text: url,
    pictures: ['data:image/png;base64,iVBORw0='],
  });
  expect(speakers.images.read({ data: [{ b64_json: 'PHN2Zz4=' }] })).toEqual({});
});

test('a refusal says what the gateway says', () => {
  expect(refusalText('{"error":{"message":"no"}}')).toBe('no');
  expect(refusalText('[{"error":{"message":"no"}}]')).toBe('no');
  expect(refusalText('<html>')).toBeNull();
});
