import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UnreadableResponse } from '../../protocol.ts';
import { encodeTokenCount, readTokenCount } from './parse-bodies.ts';

describe('the response to a token count', () => {
  it.each(['messages', 'generate-content'] as const)('%s: what is written can be read', (name) => {
    fc.assert(
      fc.property(fc.nat(), (tokens) => {
        const body = Buffer.from(encodeTokenCount(name, tokens));
        expect(readTokenCount(name, name, body)).toEqual({ body, usage: null });
      }),
    );
    expect(encodeTokenCount('messages', 7)).toBe('{"input_tokens":7}');
    expect(encodeTokenCount('generate-content', 7)).toBe('{"totalTokens":7}');
  });

  it('keeps other members of an upstream’s count', () => {
    const body = Buffer.from('{"totalTokens": 31, "promptTokensDetails": []}');
    expect(readTokenCount('generate-content', 'generate-content', body).body).toBe(body);
  });

  it.each([
    ['generate-content', '{"totalTokens":31,"cachedContentTokenCount":4}', 'messages'],
    ['responses', '{"object":"response.input_tokens","input_tokens":31}', 'messages'],
    ['messages', '{"input_tokens":31}', 'generate-content'],
  ] as const)('%s: %s is the number alone for %s', (upstream, said, client) => {
    const { body } = readTokenCount(upstream, client, Buffer.from(said));
    expect(body.toString()).toBe(encodeTokenCount(client, 31));
  });

  it.each([
    '{}',
    '{"totalTokens":5}',
    '{"input_tokens":"5"}',
    '{"input_tokens":-1}',
    '{"input_tokens":1.5}',
    '{"input_tokens":null}',
    '{"error":{"message":"no"},"input_tokens":5}',
    '[5]',
    '5',
    'no JSON',
    '',
  ])('%s is not one', (text) => {
    expect(() => readTokenCount('messages', 'generate-content', Buffer.from(text))).toThrow(
      UnreadableResponse,
    );
  });
});
