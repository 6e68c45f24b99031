import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestGateway, testKey, type TestGateway } from '../support/gateway.ts';

/* The tool `image_generation` with the official SDK, at upstreams that have no such tool. */

const protocols = ['chat', 'messages', 'generate-content'];

let gateway: TestGateway;
beforeAll(async () => {
  const common = { provider: 'simulator', base_url: 'SIMULATOR' };
  const served = (protocol: string, upstream: string, name = protocol) => ({
    ...common,
    name,
    protocols: [protocol],
    models: [{ name, upstream }],
  });
  const price = { input: 2, output: 12 };
  const channels = [
    ...protocols.map((protocol) => served(protocol, 'demo-chat')),
    served('images', 'gpt-image-1', 'painter'),
  ];
  const models = [
    ...protocols.map((id) => ({ id, type: 'chat', image_tool_model: 'painter', price })),
    { id: 'painter', type: 'image', price },
  ];
  // JSON is YAML.
  gateway = await startTestGateway({
    config: `channels: ${JSON.stringify(channels)}\nmodels: ${JSON.stringify(models)}`,
  });
});
afterAll(() => gateway.close());

type Item = OpenAI.Responses.ResponseOutputItem;

function picturesIn(
  output: readonly Item[],
): OpenAI.Responses.ResponseOutputItem.ImageGenerationCall[] {
  return output.filter((item) => item.type === 'image_generation_call');
}

const isPicture = (base64: string | null | undefined): boolean =>
  Buffer.from(base64 ?? '', 'base64')
    .subarray(1, 4)
    .toString() === 'PNG';

const prompt = 'call tool image_generation with {"prompt":"A red house"}';

describe.each(protocols)(
  'the picture tool with the official SDK, at an upstream of %s',
  (model) => {
    const client = () =>
      new OpenAI({ apiKey: testKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const tools: OpenAI.Responses.Tool[] = [{ type: 'image_generation' }];

    it('a picture, and a second turn with its item', async () => {
      const first = await client().responses.create({ model, input: prompt, tools });
      const [picture] = picturesIn(first.output);
      expect(first.status).toBe('completed');
      expect(picture?.status).toBe('completed');
      expect(isPicture(picture?.result)).toBe(true);
      const second = await client().responses.create({
        model,
        tools,
        input: [
          { role: 'user', content: prompt },
          ...(first.output as OpenAI.Responses.ResponseInputItem[]),
          { role: 'user', content: 'What did you draw?' },
        ],
      });
      expect(second.status).toBe('completed');
      // The simulator quotes the result of a tool rather than the user, and counts the pictures that it gets.
      expect(second.output_text).toMatch(
        model === 'chat'
          ? /What did you draw\?/
          : /The picture was shown to the user.*I received 1 image/,
      );
    });

    it('a picture in a stream', async () => {
      const stream = client().responses.stream({ model, input: prompt, tools });
      const types: string[] = [];
      stream.on('event', ({ type }) => void types.push(type));
      const final = await stream.finalResponse();
      const [picture] = picturesIn(final.output);
      expect(isPicture(picture?.result)).toBe(true);
      expect(types.filter((type) => type.includes('image_generation_call'))).toEqual([
        'response.image_generation_call.in_progress',
        'response.image_generation_call.generating',
        'response.image_generation_call.completed',
      ]);
      expect(types.at(-1)).toBe('response.completed');
    });

    it('a picture that the client requires', async () => {
      const { output } = await client().responses.create({
        model,
        input: 'A house',
        tools: [{ type: 'image_generation', quality: 'low', size: '1024x1536' }],
        tool_choice: { type: 'image_generation' },
      });
      expect(isPicture(picturesIn(output)[0]?.result)).toBe(true);
      const drawn = gateway.simulator.requests().at(-1)?.json;
      expect(drawn).toMatchObject({ quality: 'low', size: '1024x1536' });
    });
  },
);
