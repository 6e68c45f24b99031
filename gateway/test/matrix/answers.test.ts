import { describe, expect, test } from 'vitest';
import { rowOf, shareGateway, ask } from '../behaviour/support.ts';
import { onePerProtocol, pairs } from './gateway.ts';
import { askWithSdk, finishes } from './sdk-clients.ts';

const shared = shareGateway({ config: onePerProtocol });
const question = 'Please tell me how a sluice keeps the water of a canal in its place. äöü 水 🌊';

const paths = {
  chat: /\/chat\/completions$/,
  responses: /\/responses$/,
  messages: /\/messages$/,
  'generate-content': /enerateContent(\?alt=sse)?$/,
};

/** What the simulator signed, and not a word of ours in its place. */
const ownState = {
  chat: /"tool_calls"/,
  responses: /"encrypted_content":"c2ltdWxhdG9y/,
  messages: /"signature":"c2ltdWxhdG9y/,
  'generate-content': /"thoughtSignature":"c2ltdWxhdG9y/,
};

describe.each(pairs)('$name', ({ client, upstream }) => {
  const whole = { model: `at-${upstream}`, text: question, stream: false };

  test('a plain answer, whole and streamed alike', async () => {
    const { url, simulator } = shared.gateway;
    const answer = await askWithSdk(client.name, url, whole);
    expect(answer.text).toContain(question);
    expect(answer.finish).toBe(finishes[client.name].end);
    expect(answer.inputTokens).toBe(Math.ceil(question.length / 4));
    expect(answer.outputTokens).toBe(Math.ceil(answer.text.length / 4));
    expect(simulator.requests().at(-1)?.path).toMatch(paths[upstream]);

    const streamed = await askWithSdk(client.name, url, { ...whole, stream: true });
    const { goOn: _, ...told } = answer;
    expect(streamed).toMatchObject(told);
    expect(simulator.requests().at(-1)?.path).toMatch(paths[upstream]);
  });

  test('reasoning arrives as the client’s own, once', async () => {
    const { url } = shared.gateway;
    const thinking = { ...whole, model: `thinks-${upstream}`, think: true };
    for (const stream of [false, true]) {
      const answer = await askWithSdk(client.name, url, { ...thinking, stream });
      expect(answer.reasoning).toMatch(/^The demo thinks for a moment: .* fixed sentence\.$/);
      expect(answer.text).toContain(question);
    }
  });

  test('parallel calls and their results, whole and streamed', async () => {
    const { url } = shared.gateway;
    for (const stream of [false, true]) {
      const asked = { ...whole, text: 'call tools', tools: true, stream };
      const first = await askWithSdk(client.name, url, asked);
      expect(first.calls).toMatchObject([
        { name: 'get_weather', input: { city: 'demo city' } },
        { name: 'get_time', input: {} },
      ]);
      expect(first.finish).toBe(finishes[client.name].tools);
      const last = await first.goOn();
      expect(last.text).toContain('The tool answered: "result 0" and "result 1".');
      expect(last.finish).toBe(finishes[client.name].end);
    }
  });

  test('K20 a tool loop of a model that wants its signed thoughts back', async () => {
    const { url, simulator } = shared.gateway;
    for (const stream of [false, true]) {
      const asked = {
        ...whole,
        model: `thinks-${upstream}`,
        text: 'call tools',
        tools: true,
        think: true,
        stream,
      };
      const first = await askWithSdk(client.name, url, asked);
      expect(first.calls).toHaveLength(2);
      const last = await first.goOn();
      expect(last.text).toContain('"result 0" and "result 1"');
      expect(simulator.requests().at(-1)?.body).toMatch(ownState[upstream]);
    }
  });

  test('the row names the client’s protocol and the channel, and what was used', async () => {
    const answer = await ask(shared.gateway, client, true, `at-${upstream}`);
    expect(await rowOf(shared.gateway, answer.id)).toMatchObject({
      outcome: 'completed',
      protocol: client.name,
      channel: `only-${upstream}`,
      tokens: { input: 2, output: 21 },
    });
  });

  test('the same request twice is the same body upstream', async () => {
    const { simulator } = shared.gateway;
    const bodies = [];
    for (let round = 0; round < 2; round += 1) {
      await ask(shared.gateway, client, false, `at-${upstream}`);
      bodies.push(simulator.requests().at(-1)?.body);
    }
    expect(bodies[0]).toBe(bodies[1]);
  });
});
