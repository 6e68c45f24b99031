import { expect, test } from 'vitest';
import { convert, readWire } from '../support/convert.ts';

/** What a client of generateContent writes without meaning anything by it is no loss. */

const contents = [
  { role: 'user', parts: [{ text: 'hello' }] },
  {
    role: 'model',
    parts: [
      {
        functionCall: { name: 'f', args: {} },
        thoughtSignature: 'skip_thought_signature_validator',
      },
    ],
  },
  { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: 'x' } } }] },
];

test.each(['chat', 'responses', 'messages'] as const)(
  'empty settings and the mark of a missing signature, to %s',
  async (protocol) => {
    const request = readWire('generate-content', {
      contents,
      safetySettings: [],
      labels: {},
      generationConfig: { stopSequences: [], speechConfig: {} },
    });
    const converted = await convert({
      client: 'generate-content',
      request,
      target: { protocol },
      strict: true,
    });
    expect(converted.losses).toEqual([]);
  },
);
