import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../src/index.ts';
import { readImage } from '../src/image-files/read-image.ts';
import { ask, askStream, type Json } from './client.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

const draw = (changes: Record<string, unknown> = {}, headers = {}) =>
  ask(
    simulator,
    'responses',
    { input, tools: [{ type: 'image_generation' }], ...changes },
    headers,
  );
const input = 'a red square: call tool image_generation';
const typesIn = (json: Json) => json.output.map(({ type }: Json) => type);
const both = ['image_generation_call', 'message'];

test('the tool draws a picture before the message', async () => {
  const tools = [
    { type: 'image_generation', size: '1024x1536', quality: 'low', output_format: 'webp' },
  ];
  const { json } = await draw({ tools });
  expect(typesIn(json)).toEqual(both);
  expect(json.output[0]).toMatchObject({
    id: expect.stringMatching(/^ig_/),
    status: 'completed',
    background: 'opaque',
    output_format: 'webp',
    quality: 'low',
    size: '1024x1536',
    revised_prompt: expect.stringContaining('a red square'),
  });
  const head = readImage(Buffer.from(json.output[0].result, 'base64'));
  expect(head).toMatchObject({ type: 'webp', width: 1024, height: 1536 });
});

test('the picture stands behind the reasoning', async () => {
  const { json } = await draw({ model: 'demo-reasoning' });
  expect(typesIn(json)).toEqual(['reasoning', ...both]);
});

test.each<[string, Record<string, unknown>, readonly string[]]>([
  ['nothing asks for it', { input: 'hello' }, ['message']],
  ['it is switched off', { tool_choice: 'none' }, ['message']],
  ['it is not there', { tools: [] }, ['message']],
  ['it is chosen', { input: 'a', tool_choice: { type: 'image_generation' } }, both],
  ['some tool is required', { input: 'a', tool_choice: 'required' }, both],
  ['the model refuses', { input: `${input}, refuse` }, ['message']],
])('what is drawn if %s', async (_, changes, types) => {
  expect(typesIn((await draw(changes)).json)).toEqual(types);
});

test('a stream shows the progress of the picture', async () => {
  const tools = [{ type: 'image_generation', partial_images: 2 }];
  const { events } = await askStream(simulator, 'responses', { input, tools });
  const own = events.filter(({ output_index: index }) => index === 0);
  expect(own.map(({ type }) => type.replace('response.', ''))).toEqual([
    'output_item.added',
    'image_generation_call.in_progress',
    'image_generation_call.generating',
    'image_generation_call.partial_image',
    'image_generation_call.partial_image',
    'image_generation_call.completed',
    'output_item.done',
  ]);
  expect(own[0].item).toMatchObject({ status: 'in_progress', result: null });
  expect(own[4]).toMatchObject({ partial_image_index: 1, size: '1024x1024' });
  expect(own[6].item.result).toMatch(/^iVBOR/);
  expect(events.at(-1).response.output[0]).toEqual(own[6].item);
});

test('the item may return in a later history', async () => {
  const { json } = await draw();
  const later = [
    { role: 'user', content: input },
    ...json.output,
    { role: 'user', content: 'thanks' },
  ];
  expect((await draw({ input: later })).status).toBe(200);
  const wrong = [{ type: 'image_generation_call', result: 'abc' }, ...later];
  expect((await draw({ input: wrong })).json.error.message).toMatch(/input\[0\]\.id/);
});

test.each<[string, Record<string, unknown>, string]>([
  ['an unknown member', { prompt: 'a' }, 'tools[0].prompt'],
  ['another size', { size: '512x512' }, 'tools[0].size'],
  ['too many partial pictures', { partial_images: 4 }, 'tools[0].partial_images'],
  ['another action', { action: 'draw' }, 'tools[0].action'],
])('the vendor refuses %s', async (_, members, param) => {
  const { status, json } = await draw({ tools: [{ type: 'image_generation', ...members }] });
  expect([status, json.error.param]).toEqual([400, param]);
});

test('the vendor refuses the choice of a tool that is not there', async () => {
  const { json } = await draw({ tools: [], tool_choice: { type: 'image_generation' } });
  expect(json.error.message).toMatch(/not found in 'tools'/);
});

test('faults change the size and the file', async () => {
  const fault = { 'x-simulator-fault': 'size=640x480;picture-bytes=2000000' };
  const [item] = (await draw({}, fault)).json.output;
  expect(item.size).toBe('640x480');
  expect(Buffer.from(item.result, 'base64').length).toBe(2_000_000);
});

test('the official client reads it', async () => {
  const client = new OpenAI({ apiKey: 'key', baseURL: `${simulator.url}/v1`, maxRetries: 0 });
  const response = await client.responses.create({
    model: 'demo-chat',
    input,
    tools: [{ type: 'image_generation' }],
  });
  const [item] = response.output.filter((entry) => entry.type === 'image_generation_call');
  expect(item?.result).toMatch(/^iVBOR/);
});
