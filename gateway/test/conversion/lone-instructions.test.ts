import { expect, test } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { convert, readWire, type Asked } from '../support/convert.ts';

/** Chat clients ask for a title or a summary with a system message alone. */
const lone = {
  model: 'm',
  messages: [
    { role: 'system', content: 'Make a title for:' },
    { role: 'system', content: 'the sea' },
  ],
};

async function sent(client: TextProtocolName, json: object, target: Asked['target']) {
  const { body, losses } = await convert({ client, request: readWire(client, json), target });
  return {
    json: JSON.parse(String(body)) as Record<string, unknown>,
    lost: losses.map(({ what }) => what),
  };
}

const texts = (type: string | null) =>
  ['Make a title for:', 'the sea'].map((text) => (type === null ? { text } : { type, text }));

test.each([
  ['messages', { messages: [{ role: 'user', content: texts('text') }] }, 'system'],
  [
    'responses',
    { input: [{ type: 'message', role: 'user', content: texts('input_text') }] },
    'instructions',
  ],
  ['generate-content', { contents: [{ role: 'user', parts: texts(null) }] }, 'systemInstruction'],
] as const)(
  'instructions alone become the user’s message for %s',
  async (protocol, said, member) => {
    for (const more of [[], [{ role: 'user', content: ' ' }]]) {
      const json = { ...lone, messages: [...lone.messages, ...more] };
      const { json: body, lost } = await sent('chat', json, { protocol });
      expect(body).toMatchObject(said);
      expect(body).not.toHaveProperty(member);
      expect(lost).toEqual(['system']);
    }
  },
);

test('chat accepts them unchanged', async () => {
  const json = { model: 'm', instructions: 'Make a title', input: [] };
  const { json: body, lost } = await sent('responses', json, { protocol: 'chat' });
  expect(body).toMatchObject({ messages: [{ role: 'system', content: 'Make a title' }] });
  expect(lost).toEqual([]);
});
