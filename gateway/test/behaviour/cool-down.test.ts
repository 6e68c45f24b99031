import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  ask,
  attemptsOf,
  describeChannels,
  jumpingClock,
  openGateway,
  rowOf,
  shareGateway,
  type ClientResponse,
} from './support.ts';
import { eachCall, textProtocols } from './text-protocols.ts';

const chat = textProtocols[0]!;
const cases = eachCall.map((call) => ({ ...call, model: call.name.replace(' ', '-') }));

const restSeconds = 600;
const passedSeconds = 500;

describe('R-06 a rate-limited channel', () => {
  const shared = shareGateway({
    config: describeChannels(
      cases.map(({ model }) => ({
        name: model,
        at: `/fault(status=429;retry-after=${restSeconds};times=1;id=${model})`,
        models: [`${model} -> demo-chat`],
      })),
    ),
  });
  const sent = (model: string) =>
    shared.gateway.simulator.requests().filter(({ path }) => path.includes(`id=${model})`)).length;

  test.each(cases)(
    '$name: a 429 with Retry-After rests the channel until then',
    async ({ protocol, stream, model }) => {
      const jump = jumpingClock();
      /** A busy machine's lag seems to last as long as the jump, which is an overload until the next look. */
      const askAgain = async (): Promise<ClientResponse> => {
        const response = await ask(shared.gateway, protocol, stream, model);
        if (response.status !== 503) return response;
        await wait(100);
        return askAgain();
      };
      const first = await ask(shared.gateway, protocol, stream, model);
      expect([first.status, first.headers.get('retry-after')]).toEqual([429, `${restSeconds}`]);
      expect(protocol.errorMessage(JSON.parse(first.text))).toMatch(
        /^quota exhausted, please retry later/,
      );
      expect(sent(model)).toBe(1);

      jump(passedSeconds * 1_000);
      const second = await askAgain();
      expect(second.status).toBe(429);
      // What is left, without the seconds that the test itself takes.
      const told = Number(second.headers.get('retry-after'));
      expect(told).toBeLessThanOrEqual(restSeconds - passedSeconds);
      expect(told).toBeGreaterThan(0);
      expect(sent(model)).toBe(1);
      expect(await rowOf(shared.gateway, second.id)).toMatchObject({
        outcome: 'failed',
        status: 429,
        attempts: [],
      });

      jump((restSeconds - passedSeconds) * 1_000);
      expect((await askAgain()).status).toBe(200);
      expect(sent(model)).toBe(2);
    },
  );
});

test('R-06 while one channel cools down the other answers and the first is not called', async () => {
  const gateway = await openGateway({
    config: describeChannels([
      {
        name: 'limited',
        at: '/fault(status=429;retry-after=60)',
        models: ['demo-chat'],
        more: ['priority: 1'],
      },
      { name: 'spare', models: ['demo-chat'] },
    ]),
  });
  const channelsOf = async () =>
    attemptsOf(await rowOf(gateway, (await ask(gateway, chat, true)).id)).map(
      ({ channel }) => channel,
    );
  expect(await channelsOf()).toEqual(['limited', 'spare']);
  expect(await channelsOf()).toEqual(['spare']);
});

test.each(textProtocols)(
  'R-06 $name: a limit reported inside a response cools the channel down too',
  async (protocol) => {
    const at = protocol.eventsBeforeContent + 2;
    const gateway = await openGateway({
      config: describeChannels([
        {
          name: 'limited',
          at: `/fault(events=20;error-at=${at};status=429)`,
          models: ['demo-chat'],
          more: ['priority: 1'],
        },
        { name: 'spare', models: ['demo-chat'] },
      ]),
    });
    const first = await ask(gateway, protocol, true);
    expect(first.text).toMatch(protocol.errorFrame);
    expect(attemptsOf(await rowOf(gateway, first.id))).toMatchObject([
      { channel: 'limited', class: 'shown', result: 'rate-limited' },
    ]);
    const second = await ask(gateway, protocol, true);
    expect(attemptsOf(await rowOf(gateway, second.id))).toMatchObject([
      { channel: 'spare', class: 'shown', result: 'completed' },
    ]);
  },
);

test('R-06 only the refused credential cools down', async () => {
  const gateway = await openGateway({
    config: `
channels:
  - { name: two-keys, provider: openai-compatible, base_url: "SIMULATOR/v1", api_keys: [invalid-one, good-one], protocols: [chat], models: [demo-chat] }
`,
  });
  const statuses: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) statuses.push((await ask(gateway, chat, false)).status);
  expect(statuses).toEqual([502, 200, 200, 200, 200]);
});

test('a client does not sit through a long wait', async () => {
  const gateway = await openGateway({
    config: describeChannels([
      { name: 'limited', at: '/fault(status=429;retry-after=300)', models: ['demo-chat'] },
    ]),
  });
  const { headers } = await ask(gateway, chat, false);
  expect([headers.get('retry-after'), headers.get('x-should-retry')]).toEqual(['300', 'false']);
});
