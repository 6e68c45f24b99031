import { describe, expect, test } from 'vitest';
import { ask, only, openGateway, rowOf } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';

const config = `
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat, responses, messages, generate-content]
    models: [{ name: priced, upstream: demo-chat }]
models:
  - { id: priced, type: chat, max_output_tokens: 1000, price: { input: 1000, output: 2000 } }
`;

describe.each(textProtocols)('$name', (protocol) => {
  test.each([true, false])('is charged what it used, exactly (streamed: %s)', async (stream) => {
    const gateway = await openGateway({ config });
    const { id } = await ask(gateway, protocol, stream, 'priced');
    const row = await rowOf(gateway, id);
    // 0.001 USD per token in, 0.002 out.
    const expected = row.tokens.input * 0.001 + row.tokens.output * 0.002;
    expect(row.tokens.output).toBeGreaterThan(0);
    expect(Number(row.cost)).toBeCloseTo(expected, 9);
  });
});

test('a balance that is used up admits nothing more', async () => {
  const gateway = await openGateway({
    config: `${config}
users: [{ email: poor@example.com, balance: 0.03 }]
keys:
  - { name: poor, user: poor@example.com, secret: sk-test-0123456789abcdefghijklmnopqrstuv }`,
  });
  const [chat] = textProtocols;
  const first = await ask(gateway, chat!, false, 'priced');
  expect(first.status).toBe(200);
  const second = await ask(gateway, chat!, false, 'priced');
  expect(second.status).toBe(402);
  expect(chat!.errorMessage(JSON.parse(second.text))).toMatch(/^insufficient balance/);
  expect(
    only((await gateway.usage()).filter(({ outcome }) => outcome === 'refused')).cost,
  ).toBeNull();
});
