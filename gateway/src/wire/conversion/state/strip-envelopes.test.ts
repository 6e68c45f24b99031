import { describe, expect, test } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { sealerOf } from '#test/support/converted-reader.ts';
import { sealForClient } from './envelope.ts';
import { carriesEnvelopes, stripEnvelopes } from './strip-envelopes.ts';

const sealing = { sealer: sealerOf('key'), owner: 'team:1' };
const seal = (client: TextProtocolName) =>
  sealForClient(
    sealing,
    client,
    'maker',
    { protocol: 'generate-content', kind: 'thought-signature', data: 'x' },
    'own',
  ).data;

const text = { type: 'text', text: 'said' };
const native = { type: 'thinking', thinking: 'so', signature: 'ErUBCkYIBxgC' };
const call = { functionCall: { name: 'f', args: {} } };

describe('envelopes', () => {
  test.each<[TextProtocolName, object, object]>([
    [
      'messages',
      {
        content: [{ type: 'thinking', thinking: 'so', signature: seal('messages') }, native, text],
      },
      { content: [native, text] },
    ],
    [
      'messages',
      { content: [{ type: 'redacted_thinking', data: seal('messages') }, text] },
      { content: [text] },
    ],
    [
      'responses',
      { input: [{ type: 'reasoning', summary: [], encrypted_content: seal('responses') }, text] },
      { input: [text] },
    ],
    [
      'generate-content',
      {
        parts: [
          { ...call, thoughtSignature: seal('generate-content') },
          { thoughtSignature: 'Q2c0' },
          { text: 'so', thought: true, thoughtSignature: seal('generate-content') },
        ],
      },
      {
        parts: [
          { ...call, thoughtSignature: 'skip_thought_signature_validator' },
          { thoughtSignature: 'Q2c0' },
          { text: 'so', thought: true },
        ],
      },
    ],
    [
      'chat',
      {
        reasoning_details: [{ type: 'reasoning.encrypted', data: seal('chat') }],
        content: 'said',
      },
      { reasoning_details: [], content: 'said' },
    ],
  ])('%s: sealed state is removed, the vendor’s own stays', (client, request, left) => {
    expect(carriesEnvelopes(Buffer.from(JSON.stringify(request)), client)).toBe(true);
    expect(stripEnvelopes(request)).toEqual(left);
    expect(carriesEnvelopes(Buffer.from(JSON.stringify(left)), client)).toBe(false);
  });
});

test('every envelope is found, with any nonce, in either alphabet of base64', () => {
  for (let round = 0; round < 200; round += 1) {
    for (const client of ['messages', 'generate-content'] as const) {
      const data = seal(client);
      for (const text of [data, data.replaceAll('+', '-').replaceAll('/', '_')]) {
        expect(carriesEnvelopes(Buffer.from(`"gw2. words" ["${text}"]`), client)).toBe(true);
      }
    }
  }
});

test('text about envelopes stays', () => {
  const words = ['"gw1. in it', '"gw2. and "gw2.short', 'gw3.x', '"Z3cyLg== is "Z3cyLmE'];
  for (const client of ['messages', 'generate-content'] as const) {
    const request = {
      content: words.map((said) => ({ type: 'text', text: said, signature: 'gw3.x' })),
    };
    const body = Buffer.from(JSON.stringify(request).replaceAll('\\"', '"'));
    expect(carriesEnvelopes(body, client)).toBe(false);
    expect(stripEnvelopes(request)).toEqual(request);
  }
});

test('reasoning that the gateway wrote without its state is looked up by nobody', () => {
  const id = 'rs_-P7Vk_f87azwX4m7CXaeT0Mn_1';
  const message = { type: 'message', role: 'user', content: `a text with "${id}" in it` };
  const ownItem = { type: 'reasoning', id: 'rs_68af4030baa08190ab3d0ad2', summary: [] };
  const withState = { type: 'reasoning', id, summary: [], encrypted_content: 'gAAAAABo' };
  const kept = { input: [message, ownItem, withState] };
  const request = { input: [message, { type: 'reasoning', id, summary: [] }, ownItem, withState] };
  const carries = (json: object, client: TextProtocolName = 'responses') =>
    carriesEnvelopes(Buffer.from(JSON.stringify(json)), client);
  expect(carries(request)).toBe(true);
  expect(stripEnvelopes(request)).toEqual(kept);
  expect(carries({ input: [message, ownItem] })).toBe(false);
  expect(carries(request, 'messages')).toBe(false);
});

test('an envelope is found wherever it is, also among many that only look like one', () => {
  const alike = '"gw'.repeat(30_000);
  const whole = JSON.stringify(seal('messages'));
  for (const shift of [0, 1, 40, 63, 64, 65]) {
    const before = 'x'.repeat(shift) + alike.slice(0, 65_536 - shift);
    expect(carriesEnvelopes(Buffer.from(before + whole), 'messages')).toBe(true);
  }
  expect(carriesEnvelopes(Buffer.from(alike), 'messages')).toBe(false);
});
