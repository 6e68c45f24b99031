import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wireResponse } from '../matrix/response-features/wire.ts';
import { startFarSide, type FarSide } from '../support/far-side.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { longestTurn } from '../support/longest-turn.ts';
import { describeChannels, rowOf } from './support.ts';
import { textProtocols } from './text-protocols.ts';

/* Answers made to hurt, and merely large ones: none of them holds up the requests of others. */

const mebibyte = 2 ** 20;
/** Milliseconds of CPU time; 50 are meant, and machines differ. */
const longest = 500;

let far: FarSide;
let gateway: TestGateway;

beforeAll(async () => {
  far = await startFarSide();
  gateway = await startTestGateway({
    config: describeChannels(
      textProtocols.map(({ name }) => ({
        name: `only-${name}`,
        at: far.url,
        models: [`at-${name}`],
        protocols: [name],
      })),
      () => 'price: { input: 0.0001, output: 0.0001 }',
    ),
  });
});

afterAll(async () => {
  await gateway.close();
  await far.close();
});

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta: object, finish: string | null = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };

/** A stream of chat with this in its middle. */
const chatStream = (middle: string): string =>
  `${data(chunk({ content: 'a' }))}${middle}${data({ ...chunk({}, 'stop'), usage })}data: [DONE]\n\n`;

const streams: readonly (readonly [string, () => string])[] = [
  ['words', () => data({ choices: [{ delta: { content: 'a' } }] }).repeat(50_000)],
  ['empty events', () => 'data: {}\n\n'.repeat(400_000)],
  ['blank lines', () => '\n'.repeat(2 * mebibyte)],
];

test.each(
  streams.flatMap(([what, make]) =>
    textProtocols.map((client) => [what, client.name, make, client] as const),
  ),
)('a stream of %s to a client of %s', async (_what, _name, make, client) => {
  const body = Buffer.from(chatStream(make()));
  const held = await longestTurn(async () => {
    const { status, id } = await far.ask(
      gateway,
      client.path('at-chat', true),
      client.body('at-chat', true),
      { headers: { 'content-type': 'text/event-stream' }, body },
    );
    expect(status).toBe(200);
    expect(await rowOf(gateway, id)).toMatchObject({ outcome: 'completed', tokens: { input: 3 } });
  });
  expect(held).toBeLessThan(longest);
});

/** A whole response of chat. */
const chatWhole = (message: object): string =>
  JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
    usage,
  });
const call = (index: number) => ({
  id: `call_${index}`,
  type: 'function',
  function: { name: 'f', arguments: '{}' },
});
const calls = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ index, ...call(index) }));
const members = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 0]));
const json = { 'content-type': 'application/json' };
const events = { 'content-type': 'text/event-stream' };

const wholes: readonly (readonly [
  string,
  isStreamed: boolean,
  headers: Record<string, string>,
  () => string,
])[] = [
  ['24 MiB of line ends', false, json, () => chatWhole({ content: '\n'.repeat(12 * mebibyte) })],
  [
    '60000 calls',
    false,
    json,
    () =>
      chatWhole({ content: null, tool_calls: Array.from({ length: 60_000 }, (_, at) => call(at)) }),
  ],
  [
    'a stream of 60000 words, where none was asked',
    false,
    events,
    () => chatStream(data(chunk({ content: 'word ' })).repeat(60_000)),
  ],
  [
    '7 MiB of line ends, where a stream was asked',
    true,
    json,
    () => chatWhole({ content: '\n'.repeat(3.5 * mebibyte) }),
  ],
];

test.each(
  wholes.flatMap(([what, isStreamed, headers, make]) =>
    textProtocols
      .filter(({ name }) => name === 'chat' || name === 'messages')
      .map((client) => [what, client.name, isStreamed, headers, make, client] as const),
  ),
)('%s, to a client of %s', async (_what, _name, isStreamed, headers, make, client) => {
  const body = Buffer.from(make());
  const held = await longestTurn(async () => {
    const { status, id } = await far.ask(
      gateway,
      client.path('at-chat', isStreamed),
      client.body('at-chat', isStreamed),
      { headers, body },
    );
    expect(status).toBe(200);
    expect(await rowOf(gateway, id)).toMatchObject({
      outcome: 'completed',
      tokens: { input: 3, output: 4 },
      attempts: [{ result: 'completed' }],
    });
  });
  expect(held).toBeLessThan(longest);
});

/** One event that holds much. The last two are refused where they would have to be converted. */
const heavy: readonly (readonly [string, status: number, () => string])[] = [
  ['2000 calls', 200, () => data(chunk({ tool_calls: calls(2_000) }))],
  ['4 MiB of line ends', 200, () => data(chunk({ content: '\n'.repeat(2 * mebibyte - 1_000) }))],
  ['50000 calls', 502, () => data(chunk({ tool_calls: calls(50_000) }))],
  ['600000 members', 502, () => data({ ...chunk({ content: 'x' }), x: members(600_000) })],
];

test.each(
  heavy.flatMap(([what, status, make]) =>
    textProtocols.map((client) => [what, client.name, status, make, client] as const),
  ),
)('an event of %s, to a client of %s', async (_what, name, converted, make, client) => {
  const body = Buffer.from(chatStream(make()).slice(data(chunk({ content: 'a' })).length));
  const held = await longestTurn(async () => {
    const { status } = await far.ask(
      gateway,
      client.path('at-chat', true),
      client.body('at-chat', true),
      { headers: events, body },
    );
    expect(status).toBe(name === 'chat' ? 200 : converted);
  });
  expect(held).toBeLessThan(longest);
});

const said = 'lorem ipsum '.repeat(50_000);

describe.each(textProtocols)('a client of $name', (client) => {
  test.each(textProtocols.map(({ name }) => name))(
    'receives large responses of %s',
    async (name) => {
      const response = wireResponse(name);
      const model = `at-${name}`;
      for (const isStreamed of [false, true]) {
        for (const [headers, text] of [
          [json, response.whole],
          [events, response.stream],
        ] as const) {
          const body = Buffer.from(text.replaceAll('"so"', JSON.stringify(said)));
          const { status, id, bytes } = await far.ask(
            gateway,
            client.path(model, isStreamed),
            client.body(model, isStreamed),
            { headers, body },
          );
          expect([isStreamed, status]).toEqual([isStreamed, 200]);
          expect(bytes).toBeGreaterThan(said.length);
          // The response has no usage: its reader estimates it.
          expect(await rowOf(gateway, id)).toMatchObject({
            outcome: 'completed',
            tokens: { output: said.length / 4 },
          });
        }
      }
    },
  );
});

test.each([
  ['too deep', `{"choices":[],"x":${'['.repeat(200_000)}${']'.repeat(200_000)}}`, 502],
  ['cut', `{"choices":[{"message":{"content":"${said}`, 502],
  ['an error that says a lot', JSON.stringify({ error: { message: said, more: said } }), 502],
])('a large body that is not a response: %s', async (_what, text, expected) => {
  for (const client of textProtocols) {
    for (const isStreamed of [false, true]) {
      const { status, id, head } = await far.ask(
        gateway,
        client.path('at-chat', isStreamed),
        client.body('at-chat', isStreamed),
        { headers: json, body: Buffer.from(text) },
      );
      expect([client.name, isStreamed, status]).toEqual([client.name, isStreamed, expected]);
      client.errorMessage(JSON.parse(head));
      expect(await rowOf(gateway, id)).toMatchObject({ outcome: 'failed', cost: null });
    }
  }
});
