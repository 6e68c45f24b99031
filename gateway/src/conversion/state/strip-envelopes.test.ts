import { expect, test } from 'vitest';
import type { TextProtocolName } from '../../canonical/index.ts';
import { sealForClient } from './client-state.ts';
import { carriesEnvelopes, stripEnvelopes } from './strip-envelopes.ts';

const signer = { sign: () => 'c2ln', verify: () => true };
const owner = { provider: 'gemini', model: 'gemini-3', channel: 'ch_1' };
const seal = (client: TextProtocolName) =>
  sealForClient(
    signer,
    client,
    owner,
    { protocol: 'generate-content', kind: 'thought-signature', data: 'x' },
    'own',
  ).data;

const text = { type: 'text', text: 'said' };
const native = { type: 'thinking', thinking: 'so', signature: 'ErUBCkYIBxgC' };
const call = { functionCall: { name: 'f', args: {} } };

test.each<[TextProtocolName, object, object]>([
  [
    'messages',
    { content: [{ type: 'thinking', thinking: 'so', signature: seal('messages') }, native, text] },
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
    { reasoning_details: [{ type: 'reasoning.encrypted', data: seal('chat') }], content: 'said' },
    { reasoning_details: [], content: 'said' },
  ],
])('%s: what we sealed goes, what is the vendor’s own stays', (client, request, left) => {
  expect(carriesEnvelopes(Buffer.from(JSON.stringify(request)), client)).toBe(true);
  expect(stripEnvelopes(request)).toEqual(left);
  expect(carriesEnvelopes(Buffer.from(JSON.stringify(left)), client)).toBe(false);
});

test('words about envelopes are words', () => {
  const request = {
    content: [{ type: 'text', text: 'a string with "gw1. in it', signature: 'gw2.x' }],
  };
  expect(carriesEnvelopes(Buffer.from(JSON.stringify(request)), 'messages')).toBe(false);
  expect(stripEnvelopes(request)).toEqual(request);
});
