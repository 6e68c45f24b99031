import { expect, test } from 'vitest';
import { convert, readWire } from '../support/convert.ts';

/** Defaults that a client states explicitly are not a loss. */

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
  'empty settings and the mark of a missing signature are dropped without a loss, to %s',
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

test.each(['responses', 'messages', 'generate-content'] as const)(
  'zero penalties are dropped without a loss, to %s',
  async (protocol) => {
    const messages = [{ role: 'user', content: 'hello' }];
    const ask = (penalty: number) => {
      const penalties = { presence_penalty: penalty, frequency_penalty: penalty };
      const request = readWire('chat', { model: 'm', messages, ...penalties });
      return convert({ client: 'chat', request, target: { protocol } });
    };
    const [none, some] = [await ask(0), await ask(0.5)];
    expect(none.losses).toEqual([]);
    expect(String(none.body)).not.toMatch(/penalty/i);
    const said = some.losses.length > 0 || String(some.body).includes('presencePenalty');
    expect(said).toBe(true);
  },
);
