import { afterAll, beforeAll, expect, test } from 'vitest';
import { startFarSide, type FarSide } from '../support/far-side.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { longestTurn } from '../support/longest-turn.ts';
import { describeChannels, rowOf } from './support.ts';
import { textProtocols } from './text-protocols.ts';

/* Answers made to hurt, and merely large ones: none of them holds up the requests of others. */

const mebibyte = 2 ** 20;
/** Milliseconds of CPU time; 50 are meant, and machines differ. */
const longest = 250;

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
