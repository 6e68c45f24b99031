import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { parseConfig } from '#config/index.ts';
import type { UsageEntry } from '#usage/index.ts';
import { openGateway, rawPost, sendRaw, until } from '../behaviour/support.ts';
import { eachCall } from '../behaviour/text-protocols.ts';
import { testKey, type TestGateway } from '../support/gateway.ts';
import { expectExactBooks } from './books.ts';
import { seededRandom } from '../support/seeded-random.ts';

/*
 * P-01 to P-05, P-07, P-08: whatever comes in whatever order, while prices, quotas and the catalogue change, the rows, the ledger,
 * the balance and the counters agree in the end, and nothing stays held.
 */

const email = 'tester@example.com';
const requests = 400;
const atOnce = 16;

/** No 429: the channel would cool down, and the rest of the storm be refusals that cost nothing. */
const faults = [
  '',
  'usage=missing',
  'usage=zero',
  'usage=absurd',
  'usage=negative',
  'status=500',
  'status=400',
  'refuse',
  'garbage',
  'empty',
  'events=20;cut-at=12',
  'events=20;close-at=12',
  'error-at=6',
  'delay=150',
  'events=30;gap=10',
];

const numbers: readonly object[] = [
  {},
  { max_tokens: 1 },
  { max_tokens: 2 ** 53 - 1 },
  { max_tokens: -1 },
  { n: 3 },
  { max_output_tokens: 1.5 },
  { generationConfig: { candidateCount: 3, maxOutputTokens: 9 } },
  { temperature: 9 },
];

function accounts(price: string, quota: number): string {
  return `
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat, responses, messages, generate-content]
    models: [{ name: native, upstream: demo-chat }]
  - name: only-messages
    provider: simulator
    base_url: SIMULATOR
    protocols: [messages]
    models: [{ name: converted, upstream: demo-chat }]
models:
  - { id: native, type: chat, context_window: 4000, max_output_tokens: 1000, price: ${price} }
  - { id: converted, type: chat, context_window: 4000, max_output_tokens: 1000, price: ${price} }
users: [{ email: ${email}, balance: 40 }]
keys: [{ name: test, user: ${email}, secret: ${testKey}, quota: ${quota} }]
`;
}

test('the books after a storm', { timeout: 120_000 }, async () => {
  const random = seededRandom();
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  const cheap = '{ input: 1000, output: 2000, cache_read: 100 }';
  const dear = '{ input: 5000, output: 9000 }';
  const gateway = await openGateway({ config: accounts(cheap, 30) });
  const { dataDir, url } = gateway.app;
  const statuses = new Set<number>();
  /** What the client said in each exchange whose response it saw begin. */
  const said = new Map<string, string>();
  let count = 0;

  async function one(): Promise<void> {
    const { protocol, stream } = pick(eachCall);
    const model = pick(['native', 'native', 'converted', 'unknown']);
    const text = `storm ${(count += 1)}.`;
    const body = { ...protocol.body(model, stream, text), ...pick(numbers) };
    const fault = pick(faults);
    const path = protocol.path(model, stream);
    if (random() < 0.25) {
      const client = await sendRaw(url, rawPost(path, body, [`x-simulator-fault: ${fault}`]));
      await wait(random() * 150);
      client.socket.resetAndDestroy();
      return;
    }
    const response = await gateway.post(path, body, { 'x-simulator-fault': fault });
    statuses.add(response.status);
    said.set(response.headers.get('x-request-id') ?? '', text);
    await response.text();
  }

  async function worker(): Promise<void> {
    for (let round = 0; round < requests / atOnce; round += 1) await one();
  }

  async function change(price: string, quota: number): Promise<void> {
    const text = `
server: { port: 0 }
storage: { url: "sqlite:${dataDir}/test.db", data_dir: "${dataDir}" }
${accounts(price, quota).replaceAll('SIMULATOR', gateway.simulator.url)}`;
    await gateway.app.reload(
      parseConfig(text, { file: 'test.yaml', environment: {}, bundledModels: [] }),
    );
  }

  const changing = (async () => {
    for (let round = 0; round < 10; round += 1) {
      await wait(300);
      await change(pick([cheap, dear]), pick([5, 20, 30]));
    }
  })();
  await Promise.all(Array.from({ length: atOnce }, worker));
  await changing;
  await change(cheap, 30);

  // Who left is settled a little later, and drained responses when they end.
  let rows = -1;
  await until(
    async () => {
      const before = rows;
      rows = (await gateway.usage()).length;
      await wait(500);
      return rows === before;
    },
    'all rows',
    20_000,
  );
  expect([statuses.has(200), statuses.has(400)]).toEqual([true, true]);
  await expectOneDispatchEach(gateway, said);
  await expectExactBooks(gateway, { email, opening: 40n * 10n ** 9n, secret: testKey });
});

/** P-07: what is charged was taken and answered by an upstream once, and is not there without having been sent. */
async function expectOneDispatchEach(
  gateway: TestGateway,
  said: ReadonlyMap<string, string>,
): Promise<void> {
  const received = gateway.simulator.requests();
  const charged = (await gateway.usage()).filter(({ cost }) => cost !== null);
  expect(charged.length).toBeGreaterThan(5);
  for (const { id, outcome, attempts } of charged) {
    const tried = attempts;
    // Who leaves before the upstream has said anything pays for the input that it was sent, in the last attempt.
    const isOwed = ({ status }: UsageEntry['attempts'][number], at: number) =>
      status === 200 || (outcome === 'client-left' && status === null && at === tried.length - 1);
    const taken = tried.filter(
      (attempt, at) =>
        isOwed(attempt, at) && attempt.usage === undefined && attempt.class !== 'not-sent',
    );
    expect([id, taken.length, tried]).toEqual([id, 1, tried]);
    const text = said.get(id);
    if (text === undefined) continue;
    const sent = tried.filter((attempt) => attempt.class !== 'not-sent');
    const came = received.filter(({ body }) => body.includes(text));
    expect([id, came.length]).toEqual([id, sent.length]);
  }
}
