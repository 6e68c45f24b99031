import { describe, expect, test } from 'vitest';
import { rowOf, shareGateway, ask } from '../behaviour/support.ts';
import { png } from './features/feature.ts';
import { onePerProtocol, pairs } from './gateway.ts';
import { shareMediaHost } from './media-host.ts';
import { finishes, sdks } from './sdk/index.ts';

const media = shareMediaHost();
const shared = shareGateway({ config: onePerProtocol, mediaFetch: media.mediaFetch });
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
  const sdk = sdks[client.name];
  const whole = { model: `at-${upstream}`, text: question, stream: false };

  test('a plain response, whole and streamed alike', async () => {
    const { url, simulator } = shared.gateway;
    const response = await sdk.ask(url, whole);
    expect(response.text).toContain(question);
    expect(response.finish).toBe(finishes[client.name].end);
    expect(response.inputTokens).toBe(Math.ceil(question.length / 4));
    expect(response.outputTokens).toBe(Math.ceil(response.text.length / 4));
    expect(simulator.requests().at(-1)?.path).toMatch(paths[upstream]);

    const streamed = await sdk.ask(url, { ...whole, stream: true });
    const { goOn: _, ...told } = response;
    expect(streamed).toMatchObject(told);
    expect(simulator.requests().at(-1)?.path).toMatch(paths[upstream]);
  });

  test('reasoning arrives as the client’s own, once', async () => {
    const { url } = shared.gateway;
    const thinking = { ...whole, model: `thinks-${upstream}`, think: true };
    for (const stream of [false, true]) {
      const response = await sdk.ask(url, { ...thinking, stream });
      expect(response.reasoning).toMatch(/^The demo thinks for a moment: .* fixed sentence\.$/);
      expect(response.text).toContain(question);
    }
  });

  test('parallel calls and their results, whole and streamed', async () => {
    const { url } = shared.gateway;
    for (const stream of [false, true]) {
      const asked = { ...whole, text: 'call tools', tools: true, stream };
      const first = await sdk.ask(url, asked);
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

  test('K20 a tool loop of a model that requires its signed reasoning back', async () => {
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
      const first = await sdk.ask(url, asked);
      expect(first.calls).toHaveLength(2);
      const last = await first.goOn();
      expect(last.text).toContain('"result 0" and "result 1"');
      expect(simulator.requests().at(-1)?.body).toMatch(ownState[upstream]);
    }
  });

  test('several turns, after tools and reasoning', async () => {
    const { url, simulator } = shared.gateway;
    for (const stream of [false, true]) {
      const model = `thinks-${upstream}`;
      const asked = { ...whole, model, text: 'call tools', tools: true, think: true, stream };
      const first = await sdk.ask(url, asked);
      const second = await first.goOn();
      const third = await second.goOn({ text: 'call tool get_time' });
      expect(third.calls).toMatchObject([{ name: 'get_time' }]);
      const fourth = await third.goOn();
      expect(fourth.text).toContain('The tool answered: "result 0".');
      const last = await fourth.goOn({ text: 'goodbye' });
      expect(last.text).toContain('You said: "goodbye".');
      const body = simulator.requests().at(-1)?.body ?? '';
      for (const said of ['call tools', 'result 1', 'get_time', 'emo answer', 'goodbye']) {
        expect(body).toContain(said);
      }
    }
  });

  test('structured responses, by the SDK’s own helper', async () => {
    const { url } = shared.gateway;
    for (const stream of [false, true]) {
      const parsed = await sdk.parse(url, { ...whole, text: 'a city', stream });
      expect(parsed).toEqual({
        name: 'demo name',
        people: expect.any(Number),
        twins: ['demo twins'],
      });
    }
  });

  test('pictures as bytes, and by URL, fetched for upstreams that need bytes', async () => {
    const { url, simulator } = shared.gateway;
    for (const image of [`data:image/png;base64,${png}`, media.image]) {
      const before = media.fetched();
      for (const stream of [false, true]) {
        const response = await sdk.ask(url, { ...whole, text: 'look', image, stream });
        expect(response.text).toContain('I received 1 image.');
      }
      const isFetched = upstream === 'generate-content' && image === media.image;
      expect(media.fetched() - before).toBe(isFetched ? 2 : 0);
      const body = simulator.requests().at(-1)?.body ?? '';
      expect(body).toContain(image === media.image && !isFetched ? image : png);
    }
  });

  test('the row names the client’s protocol, the channel and the usage', async () => {
    const response = await ask(shared.gateway, client, true, `at-${upstream}`);
    expect(await rowOf(shared.gateway, response.id)).toMatchObject({
      outcome: 'completed',
      protocol: client.name,
      channel: `only-${upstream}`,
      tokens: { input: 2, output: 21 },
      cost: '0.000044',
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
