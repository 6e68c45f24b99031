import { describe, expect, test } from 'vitest';
import { ask, rowOf, until } from '../behaviour/support.ts';
import { eachCall, textProtocols, type TextProtocol } from '../behaviour/text-protocols.ts';
import { testKey } from '../support/gateway.ts';
import { answeredWords, answerWith, usageAt } from '../support/own-upstream.ts';
import {
  assertBilledExactly,
  ownChannel,
  shareBilledGateway,
  simulatorChannel,
} from './billed-gateway.ts';
import { keyQuota, nanoOf } from './books.ts';

/*
 * S-37, S-39: numbers that lie, of clients and of upstreams. Whatever they are, nothing is charged below zero or
 * beyond what was held, nothing that costs is held at zero, and the books stay right to the nano-USD.
 */

const shared = shareBilledGateway({
  balance: 1_000_000,
  channels: `
${simulatorChannel({ name: 'sim', model: 'priced' })}
${ownChannel({ name: 'own', model: 'own' })}
  - { name: own-chat, provider: simulator, base_url: "UPSTREAM", protocols: [chat], models: [own-chat] }
  - { name: own-messages, provider: simulator, base_url: "UPSTREAM", protocols: [messages], models: [own-messages] }
`,
  models: ['priced', 'own', 'own-chat', 'own-messages'],
});

/** Of a request whose row is there. */
async function heldOf(id: string): Promise<bigint> {
  const { held } = await shared.gateway.app.database.kysely
    .selectFrom('usage')
    .select('held')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return held ?? 0n;
}

/** As they stand in the JSON text, since JavaScript could not write all of them. */
const oddNumbers = [
  '-1',
  '-0',
  '0',
  '1.5',
  '2147483648',
  '9007199254740992',
  '18446744073686646784',
  '18446744073709551615',
  '1e308',
  '1e400',
  '-1e400',
  '"1e3"',
  '"NaN"',
  '"Infinity"',
  '"-Infinity"',
  '""',
  'true',
  'null',
  '[]',
  '[1]',
  '{}',
];

/** Where a client says how much it wants. */
const fields: readonly (readonly [TextProtocol['name'], string])[] = [
  ['chat', 'n'],
  ['chat', 'max_tokens'],
  ['chat', 'max_completion_tokens'],
  ['responses', 'max_output_tokens'],
  ['messages', 'max_tokens'],
  ['generate-content', 'generationConfig.maxOutputTokens'],
  ['generate-content', 'generationConfig.candidateCount'],
  ['generate-content', 'generation_config.max_output_tokens'],
  ['generate-content', 'generation_config.candidate_count'],
];

function bodyWith(protocol: TextProtocol, model: string, field: string, text: string): string {
  const [outer = '', inner] = field.split('.');
  const { [outer]: _, ...body } = protocol.body(model, false);
  const value = inner === undefined ? text : `{${JSON.stringify(inner)}:${text}}`;
  return `${JSON.stringify(body).slice(0, -1)},${JSON.stringify(outer)}:${value}}`;
}

describe.each(fields)('S-37 %s %s: odd numbers', (name, field) => {
  const protocol = textProtocols.find((each) => each.name === name)!;

  test.each(oddNumbers)(
    '%s: a clear refusal, or an exact charge within a real hold',
    async (text) => {
      const response = await shared.gateway.post(
        protocol.path('priced', false),
        bodyWith(protocol, 'priced', field, text),
      );
      const body = await response.text();
      const id = response.headers.get('x-request-id') ?? '';
      const row = await rowOf(shared.gateway, id);
      if (response.status !== 200) {
        // Ours, or the upstream's refusal in our words.
        expect(response.status).toBe(400);
        expect(protocol.errorMessage(JSON.parse(body))).not.toMatch(/internal|undefined|NaN/);
        expect(row.cost).toBeNull();
        return;
      }
      const cost = nanoOf(row.cost);
      expect(cost).toBe(
        BigInt(row.tokens.input) * 1_000_000n + BigInt(row.tokens.output) * 2_000_000n,
      );
      expect(cost).toBeGreaterThan(0n);
      expect(await heldOf(id)).toBeGreaterThanOrEqual(cost);
    },
  );
});

/** What an upstream may say a count is; `undefined`: nothing. */
const oddCounts: readonly unknown[] = [
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  2 ** 53 - 1,
  1e308,
  '7',
  '1e3',
  'NaN',
  true,
  [],
  {},
  null,
  undefined,
];

describe.each(eachCall)('S-39 $name: implausible usage', ({ protocol, stream }) => {
  async function answered(usage: unknown, model = 'own') {
    shared.upstream.answer = answerWith(usage);
    const body = await ask(shared.gateway, protocol, stream, model);
    expect([body.status, body.text.includes(answeredWords)]).toEqual([200, true]);
    if (stream) expect(body.text).toMatch(protocol.terminator);
    return { row: await rowOf(shared.gateway, body.id), held: await heldOf(body.id) };
  }
  const path = protocol.path('own', stream);

  test.each(oddCounts)('%j as input or output', async (value) => {
    for (const usage of [usageAt(path, value, 5), usageAt(path, 7, value)]) {
      const { row, held } = await answered(usage);
      const cost = nanoOf(row.cost);
      expect(cost).toBeGreaterThan(0n);
      expect(cost).toBeLessThanOrEqual(held);
    }
  });

  test('every count at its maximum', async () => {
    const most = 2 ** 53 - 1;
    const { row, held } = await answered({
      ...usageAt(path, most, most),
      total_tokens: most,
      cache_creation_input_tokens: most,
      cache_read_input_tokens: most,
      cache_creation: { ephemeral_1h_input_tokens: most, ephemeral_5m_input_tokens: most },
      completion_tokens_details: { reasoning_tokens: most },
      output_tokens_details: { reasoning_tokens: most },
      cachedContentTokenCount: most,
      toolUsePromptTokenCount: most,
      thoughtsTokenCount: most,
      totalTokenCount: most,
    });
    expect(nanoOf(row.cost)).toBe(held);
  });

  test('more read from the cache than sent', async () => {
    const { row } = await answered({
      ...usageAt(path, 10, 5),
      prompt_tokens_details: { cached_tokens: 100 },
      input_tokens_details: { cached_tokens: 100 },
      cachedContentTokenCount: 100,
      ...(protocol.name === 'messages' && { cache_read_input_tokens: 100 }),
    });
    // The cache lies outside of the input: nothing becomes negative, nothing is free.
    expect(nanoOf(row.cost)).toBe(10n * 1_000_000n + 100n * 100_000n + 5n * 2_000_000n);
  });

  test.each([undefined, null, [], 'none', 7, {}, { total_tokens: null }])(
    'usage %j: an estimate, marked',
    async (usage) => {
      const { row } = await answered(usage);
      expect(row.estimated).toBe(true);
      expect(row.tokens.output).toBeGreaterThanOrEqual(answeredWords.length / 4);
      expect(nanoOf(row.cost)).toBeGreaterThan(0n);
    },
  );

  test.each([undefined, null])(
    'half a usage (%j): the other half is estimated',
    async (missing) => {
      const { row: uncounted } = await answered(usageAt(path, 7, missing));
      expect(uncounted.estimated).toBe(true);
      expect(uncounted.tokens.output).toBeGreaterThanOrEqual(answeredWords.length / 4);
      expect(uncounted.tokens.input).toBeGreaterThan(0);
      const { row: unread } = await answered(usageAt(path, missing, 700));
      expect(unread.estimated).toBe(true);
      expect(unread.tokens.input).toBeGreaterThan(0);
      expect(nanoOf(unread.cost)).toBeGreaterThan(0n);
    },
  );

  test('converted: the same numbers, the same charge', async () => {
    for (const model of ['own-chat', 'own-messages']) {
      const at = model === 'own-chat' ? '/v1/chat/completions' : '/v1/messages';
      const { row } = await answered(usageAt(at, 10, 5), model);
      expect(nanoOf(row.cost)).toBe(10n * 1_000_000n + 5n * 2_000_000n);
      for (const odd of [-1, 1.5, 2 ** 53, 1e308, '7', undefined]) {
        const { row: other, held } = await answered(usageAt(at, 10, odd), model);
        expect([model, odd, nanoOf(other.cost) > 0n, nanoOf(other.cost) <= held]).toEqual([
          model,
          odd,
          true,
          true,
        ]);
      }
    }
  });
});

const totalled = eachCall.filter(({ protocol: { name } }) => name !== 'messages');

test.each(totalled)(
  '$name: half a usage is completed by its total',
  async ({ protocol, stream }) => {
    const path = protocol.path('own', stream);
    const total =
      protocol.name === 'generate-content' ? { totalTokenCount: 30 } : { total_tokens: 30 };
    for (const usage of [
      { ...usageAt(path, 10, undefined), ...total },
      { ...usageAt(path, undefined, 20), ...total },
    ]) {
      shared.upstream.answer = answerWith(usage);
      const { id } = await ask(shared.gateway, protocol, stream, 'own');
      expect(await rowOf(shared.gateway, id)).toMatchObject({
        tokens: { input: 10, output: 20 },
        estimated: false,
      });
    }
  },
);

test('a billable request is never held at nothing', async () => {
  shared.upstream.answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    // The rest of the response comes when the test has looked.
    finish = () => void response.end(JSON.stringify({ choices: [], usage: {} }));
  };
  let finish: (() => void) | null = null;
  for (const more of [
    { max_tokens: 0 },
    { max_completion_tokens: 0 },
    { max_tokens: null },
    { n: null },
  ]) {
    finish = null;
    const pending = shared.gateway.post('/v1/chat/completions', {
      model: 'own',
      messages: [{ role: 'user', content: 'hello' }],
      ...more,
    });
    await until(() => finish !== null, 'the upstream was asked');
    expect((await keyQuota(shared.gateway, testKey)).held).toBeGreaterThan(1_000n * 2_000_000n);
    (finish as (() => void) | null)?.();
    await pending;
  }
});

test('S-37 S-39 the books are exact to the nano-USD', async () => {
  await assertBilledExactly(shared);
});
