import { describe, expect, test } from 'vitest';
import type { UsageEntry } from '#usage/index.ts';
import { ask, rowOf } from '../behaviour/support.ts';
import { eachCall, textProtocols, type TextProtocol } from '../behaviour/text-protocols.ts';
import { answeredWords, answerWith, eventsWith, usageAt } from '../support/own-upstream.ts';
import { assertBilledExactly, ownChannel, shareBilledGateway } from './billed-gateway.ts';
import { nanoOf } from './books.ts';

/*
 * Usage that is not a count is estimated: never nothing, never more than was held. Of two reports the larger counts.
 * Tokens of sound and pictures have their own prices, or are marked.
 */

/** Models of sound: with all prices, and with those of text alone. */
const spoken =
  'input: 2.5, cache_read: 1.25, output: 10, input_audio: 32, cache_read_audio: 0.4, output_audio: 64, output_image: 120';
const limits = 'type: chat, context_window: 4000, max_output_tokens: 1000';
const voice = (name: string, protocol: string) =>
  `  - { name: ${name}, provider: simulator, base_url: "UPSTREAM", protocols: [${protocol}], models: [${name}, ${name}-text] }`;

const shared = shareBilledGateway({
  balance: 1_000_000,
  channels: `
${ownChannel({ name: 'own', model: 'own' })}
  - { name: vectors, provider: openai-compatible, base_url: "UPSTREAM", protocols: [embeddings], models: [vectors] }
  - { name: elsewhere, provider: openai-compatible, base_url: "UPSTREAM", protocols: [chat], models: [elsewhere] }
  - { name: sampled, provider: simulator, base_url: "UPSTREAM", protocols: [messages], models: [sampled] }
${voice('chat', 'chat')}
${voice('contents', 'generate-content')}
`,
  models: ['own', 'elsewhere'],
  moreModels: `
  - { id: vectors, type: embedding, context_window: 4000, price: { input: 1000 } }
  - { id: sampled, type: chat, context_window: 200000, max_output_tokens: 64000, price: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75, cache_write_1h: 6, tiers: [{ above: 200000, input: 6, output: 22.5 }] } }
  - { id: chat, ${limits}, price: { ${spoken}, multipliers: { service_tier.priority: 2 } } }
  - { id: chat-text, ${limits}, price: { input: 2.5, output: 10 } }
  - { id: contents, ${limits}, price: { ${spoken} } }
  - { id: contents-text, ${limits}, price: { input: 2.5, output: 10 } }
`,
});

interface Charged {
  readonly row: UsageEntry;
  readonly cost: bigint;
  readonly held: bigint;
  readonly source: string;
}

async function charged(id: string): Promise<Charged> {
  const row = await rowOf(shared.gateway, id);
  const { held, usage_source: source } = await shared.gateway.app.database.kysely
    .selectFrom('usage')
    .select(['held', 'usage_source'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return { row, cost: nanoOf(row.cost), held: held ?? 0n, source: source ?? '' };
}

const priceOf = (input: number, output: number): bigint =>
  BigInt(input) * 1_000_000n + BigInt(output) * 2_000_000n;

const isNoCount: readonly unknown[] = [-1, 1.5, '1e3', '', 'many', true, false, [], {}, [7]];
const isTooLarge: readonly unknown[] = [2 ** 53, 1e308, '18446744073709551615'];

describe.each(eachCall)('$name', ({ protocol, stream }) => {
  const path = protocol.path('own', stream);

  async function answered(usage: unknown): Promise<Charged> {
    shared.upstream.answer = answerWith(usage);
    const { status, id, text } = await ask(shared.gateway, protocol, stream, 'own');
    expect([status, text.includes(answeredWords)]).toEqual([200, true]);
    return charged(id);
  }

  test.each(isNoCount)(
    '%j in place of both counts costs what a missing usage costs',
    async (odd) => {
      const missing = await answered(undefined);
      const { cost, row, held, source } = await answered(usageAt(path, odd, odd));
      expect([source, row.estimated, cost]).toEqual(['estimated', true, missing.cost]);
      expect(cost).toBeGreaterThan(0n);
      expect(cost).toBeLessThanOrEqual(held);
    },
  );

  test.each(isNoCount)('%j in place of one count: that one is estimated', async (odd) => {
    const missing = await answered(undefined);
    const { input, output } = missing.row.tokens;
    const noOutput = await answered(usageAt(path, 7, odd));
    expect([noOutput.source, noOutput.cost]).toEqual(['estimated', priceOf(7, output)]);
    const noInput = await answered(usageAt(path, odd, 3));
    expect([noInput.source, noInput.cost]).toEqual(['estimated', priceOf(input, 3)]);
  });

  test('half a usage: the other half is estimated, and the half counts', async () => {
    const { input, output } = (await answered(undefined)).row.tokens;
    const noOutput = await answered(usageAt(path, 7, undefined));
    expect([noOutput.source, noOutput.cost]).toEqual(['estimated', priceOf(7, output)]);
    const noInput = await answered(usageAt(path, null, 3));
    expect([noInput.source, noInput.cost]).toEqual(['estimated', priceOf(input, 3)]);
  });

  test('an estimate is never above the hold', async () => {
    const { cost, held, source } = await answered(usageAt(path, 3_900, true));
    expect([source, cost]).toEqual(['estimated', held]);
  });

  test.each(isTooLarge)('%j is a count, and too large: the hold, marked', async (large) => {
    const { cost, held, source } = await answered(usageAt(path, 7, large));
    expect([source, cost]).toEqual(['quarantined', held]);
  });

  test('whole numbers as text are numbers, and sole zeros stay zeros', async () => {
    const { cost, source } = await answered(usageAt(path, '100', '50'));
    expect([source, cost]).toEqual(['reported', priceOf(100, 50)]);
    for (const zero of [0, '0']) {
      const none = await answered(usageAt(path, zero, zero));
      expect([none.source, none.cost]).toEqual(['reported', 0n]);
    }
  });

  test('a total beyond its parts counts nothing', async () => {
    const total = { total_tokens: 99_999, totalTokenCount: 99_999 };
    const { cost, source } = await answered({ ...usageAt(path, 100, 50), ...total });
    expect([source, cost]).toEqual(['reported', priceOf(100, 50)]);
  });
});

const twice: readonly (readonly [first: readonly unknown[], last: readonly unknown[]])[] = [
  [
    [100, 50],
    [0, 0],
  ],
  [
    [100, 50],
    [40, 20],
  ],
  [
    [100, 50],
    [true, 'x'],
  ],
  [
    ['100', '50'],
    [-1, -1],
  ],
];

// A stream that was asked for, and one that came where none was.
const eachStream = textProtocols.flatMap((protocol) =>
  [true, false].map((stream) => ({
    name: `${protocol.name} ${stream ? 'streamed' : 'joined'}`,
    protocol,
    stream,
  })),
);

describe.each(eachStream)('$name', ({ protocol, stream }) => {
  const path = protocol.path('own', stream);

  async function answered(first: unknown, last: unknown): Promise<Charged> {
    shared.upstream.answer = eventsWith(first, last);
    const { status, id, text } = await ask(shared.gateway, protocol, stream, 'own');
    expect([status, text.includes(answeredWords)]).toEqual([200, true]);
    return charged(id);
  }

  test.each(twice)('first %j, then %j: the larger counts, marked', async (first, last) => {
    const { cost, source } = await answered(
      usageAt(path, first[0], first[1]),
      usageAt(path, last[0], last[1]),
    );
    expect([source, cost]).toEqual(['estimated', priceOf(100, 50)]);
  });

  test('a later larger report counts, and one of the same tokens read from a cache', async () => {
    const more = await answered(usageAt(path, 100, 5), usageAt(path, 100, 50));
    expect([more.source, more.cost]).toEqual(['reported', priceOf(100, 50)]);
    const cached =
      protocol.name === 'messages'
        ? { ...usageAt(path, 10, 50), cache_read_input_tokens: 90 }
        : {
            ...usageAt(path, 100, 50),
            prompt_tokens_details: { cached_tokens: 90 },
            input_tokens_details: { cached_tokens: 90 },
            cachedContentTokenCount: 90,
          };
    const same = await answered(usageAt(path, 100, 5), cached);
    expect([same.source, same.cost]).toEqual(['reported', priceOf(10, 50) + 90n * 100_000n]);
  });
});

describe.each(eachCall)('$name with counters that nothing reads', ({ protocol, stream }) => {
  const path = protocol.path('own', stream);

  async function answered(usage: object): Promise<Charged> {
    shared.upstream.answer = answerWith(usage);
    const { id } = await ask(shared.gateway, protocol, stream, 'own');
    return charged(id);
  }

  test('beside counts: these are charged, and the row names the others', async () => {
    const { row, source, cost } = await answered({
      ...usageAt(path, 100, 50),
      gadgets: { used: 3, cost: 7 },
      total_tokens: 150,
    });
    expect([row.usage_unread, source, cost]).toEqual([
      ['gadgets.used'],
      'reported',
      priceOf(100, 50),
    ]);
  });

  test('alone: the usage is estimated, and the row names them', async () => {
    const missing = await answered({});
    expect(missing.row.usage_unread).toEqual([]);
    const { row, source, cost } = await answered({ in: 100, out: 50 });
    expect([row.usage_unread, source, cost]).toEqual([['in', 'out'], 'estimated', missing.cost]);
  });
});

test('a converted response with counters that nothing reads alone tells its client no usage', async () => {
  shared.upstream.answer = answerWith({ in: 100, out: 50 });
  const responses = textProtocols.find(({ name }) => name === 'responses')!;
  const { id, text } = await ask(shared.gateway, responses, false, 'elsewhere');
  expect(JSON.parse(text)).toMatchObject({ usage: null });
  expect((await charged(id)).row.usage_unread).toEqual(['in', 'out']);
});

test('counters that nothing reads are counted by model and path', async () => {
  const text = await (await fetch(`${shared.gateway.url}/metrics`)).text();
  expect(text).toMatch(/^sluice_unread_usage_total\{model="own",path="gadgets\.used"\} [1-9]/m);
});

describe.each(eachCall)(
  '$name of chat with usage in its choice, as Moonshot reports it',
  (call) => {
    test('costs what it says', async () => {
      shared.upstream.answer = (asked, response) => {
        const isStream = asked.body['stream'] === true;
        response.writeHead(200, {
          'content-type': isStream ? 'text/event-stream' : 'application/json',
        });
        const said = { role: 'assistant', content: answeredWords };
        const last = { index: 0, finish_reason: 'stop', usage: usageAt(asked.path, 100, 50) };
        const choices = [{ ...last, ...(isStream ? { delta: said } : { message: said }) }];
        const text = JSON.stringify({ id: 'c', created: 1, model: 'm', choices });
        response.end(isStream ? `data: ${text}\n\ndata: [DONE]\n\n` : text);
      };
      const { status, id } = await ask(shared.gateway, call.protocol, call.stream, 'elsewhere');
      const { source, cost } = await charged(id);
      expect([status, source, cost]).toEqual([200, 'reported', priceOf(100, 50)]);
    });
  },
);

/** As Anthropic's page on compaction has it, with what a cache adds. */
const compacted = {
  input_tokens: 23_000,
  output_tokens: 1_000,
  iterations: [
    { type: 'compaction', input_tokens: 180_000, output_tokens: 3_500 },
    {
      type: 'message',
      input_tokens: 23_000,
      output_tokens: 1_000,
      cache_read_input_tokens: 500,
      cache_creation_input_tokens: 70,
      cache_creation: { ephemeral_5m_input_tokens: 40, ephemeral_1h_input_tokens: 30 },
    },
  ],
};

describe.each(eachCall)('$name of several samplings', ({ protocol, stream }) => {
  test('costs their sum, each prompt at the rates of its own length, and says how many', async () => {
    shared.upstream.answer = stream
      ? eventsWith({ input_tokens: 180_000, output_tokens: 7 }, compacted)
      : answerWith(compacted);
    const body = { ...protocol.body('sampled', stream), ...wantsUsage(protocol, stream) };
    const response = await shared.gateway.post(protocol.path('sampled', stream), body);
    const text = await response.text();
    const { row, source, cost } = await charged(response.headers.get('x-request-id') ?? '');
    const quantities = row.receipt?.map(({ part, quantity }) => [part, quantity]);
    expect(Object.fromEntries(quantities ?? [])).toEqual({
      input: 203_000,
      cache_read: 500,
      cache_write: 40,
      cache_write_1h: 30,
      output: 4_500,
      iterations: 2,
    });
    expect([source, cost]).toEqual(['reported', 676_980_000n]);
    expect(row.tokens).toMatchObject({ input: 203_000, output: 4_500 });
    expect(text).toMatch(seenSums[protocol.name]);
  });
});

/** What the client sees as usage: the sums, or the vendor's own bytes. */
const seenSums: Record<TextProtocol['name'], RegExp> = {
  chat: /"prompt_tokens":203570,"completion_tokens":4500/,
  responses: /"input_tokens":203570,.*"output_tokens":4500/,
  messages: /"input_tokens":23000,"output_tokens":1000,"iterations":\[/,
  'generate-content': /"promptTokenCount":203570,.*"candidatesTokenCount":4500/,
};

function wantsUsage({ name }: TextProtocol, stream: boolean): object {
  return name === 'chat' && stream ? { stream_options: { include_usage: true } } : {};
}
/** 1,000 tokens of sound in and 500 out, in the words of the upstream's protocol. */
const soundAt = {
  chat: {
    prompt_tokens: 1_000,
    completion_tokens: 500,
    total_tokens: 1_500,
    prompt_tokens_details: { audio_tokens: 1_000 },
    completion_tokens_details: { audio_tokens: 500 },
  },
  contents: {
    promptTokenCount: 1_000,
    candidatesTokenCount: 500,
    totalTokenCount: 1_500,
    promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 1_000 }],
    candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 500 }],
  },
} as const;

const soundCalls = eachCall.flatMap((call) =>
  (['chat', 'contents'] as const).map((upstream) => ({ ...call, upstream })),
);

describe.each(soundCalls)('sound of $upstream for $name', ({ protocol, stream, upstream }) => {
  const lines = ({ receipt }: UsageEntry) =>
    Object.fromEntries((receipt ?? []).map(({ part, quantity }) => [part, quantity]));

  test('has its own price, reaches the client, and stands in the row', async () => {
    shared.upstream.answer = answerWith(soundAt[upstream]);
    const { id, text } = await ask(shared.gateway, protocol, stream, upstream);
    const { row, cost, source } = await charged(id);
    expect([source, cost]).toEqual(['reported', 64_000_000n]);
    expect(lines(row)).toEqual({ input_audio: 1_000, output_audio: 500 });
    expect(row).toMatchObject({
      tokens: { input: 1_000, output: 500 },
      units: { input_audio_tokens: 1_000, output_audio_tokens: 500 },
    });
    if (protocol.name === 'chat' && !stream) {
      expect(JSON.parse(text)).toMatchObject({ usage: soundAt.chat });
    }
    if (protocol.name === 'generate-content') {
      const last = text.split('\n').findLast((line) => line.includes('usageMetadata')) ?? '';
      const json = JSON.parse(last.replace(/^data: /, '')) as object;
      expect(json).toMatchObject({ usageMetadata: soundAt.contents });
    }
  });

  test('without a price of its own costs what text costs, and is marked', async () => {
    shared.upstream.answer = answerWith(soundAt[upstream]);
    const { id } = await ask(shared.gateway, protocol, stream, `${upstream}-text`);
    const { row, cost } = await charged(id);
    expect(cost).toBe(7_500_000n);
    expect(lines(row)).toEqual({
      input: 1_000,
      output: 500,
      'unpriced.input_audio': 1_000,
      'unpriced.output_audio': 500,
    });
  });
});

describe('sound and pictures', () => {
  const asked = async (model: string, path: string, body: object) => {
    const response = await shared.gateway.post(path, { model, ...body });
    await response.text();
    return charged(response.headers.get('x-request-id') ?? '');
  };
  const said = { messages: [{ role: 'user', content: 'Say hello.' }], max_tokens: 1_000 };

  test('within a cache and among text are charged by part, at the terms of the response', async () => {
    shared.upstream.answer = answerWith(
      {
        prompt_tokens: 1_000,
        completion_tokens: 500,
        prompt_tokens_details: {
          cached_tokens: 400,
          audio_tokens: 600,
          cached_tokens_details: { audio_tokens: 300 },
        },
        completion_tokens_details: { audio_tokens: 200, image_tokens: 100, reasoning_tokens: 50 },
      },
      { more: '"service_tier":"priority",' },
    );
    const { row, cost } = await asked('chat', '/v1/chat/completions', said);
    expect(row.receipt?.map(({ part, quantity }) => [part, quantity])).toEqual([
      ['input@service_tier.priority', 300],
      ['input_audio@service_tier.priority', 300],
      ['cache_read@service_tier.priority', 100],
      ['cache_read_audio@service_tier.priority', 300],
      ['output@service_tier.priority', 200],
      ['output_image@service_tier.priority', 100],
      ['output_audio@service_tier.priority', 200],
    ]);
    const nano = 300 * 2_500 + 300 * 32_000 + 100 * 1_250 + 300 * 400;
    expect(cost).toBe(2n * BigInt(nano + 200 * 10_000 + 100 * 120_000 + 200 * 64_000));
  });

  test('are held for where the request may reach them', async () => {
    shared.upstream.answer = answerWith(soundAt.chat);
    const held = async (more: object) =>
      Number((await asked('chat', '/v1/chat/completions', { ...said, ...more })).held) / 1_000;
    // 1,000 tokens of output, and less than 0.001 USD of input.
    const output = (amount: number) => Math.floor(amount / 1_000) * 1_000;
    const audio = { voice: 'alloy', format: 'wav' };
    expect(output(await held({ modalities: ['text'] }))).toBe(10_000);
    expect(output(await held({ modalities: ['text', 'audio'], audio }))).toBe(64_000);
    expect(output(await held({}))).toBe(120_000);
    // Sound may be of any length: the whole window at its price.
    const data = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } };
    const heard = { modalities: ['text'], messages: [{ role: 'user', content: [data] }] };
    expect(await held(heard)).toBe(4_000 * 32 + 10_000);
  });
});

describe('embeddings', () => {
  async function answered(usage: unknown): Promise<Charged> {
    shared.upstream.answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ data: [{ index: 0, embedding: [0.5] }], usage }));
    };
    const response = await shared.gateway.post('/v1/embeddings', {
      model: 'vectors',
      input: 'a sluice keeps the water of a canal in its place',
    });
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    return charged(response.headers.get('x-request-id') ?? '');
  }

  test.each(isNoCount)('%j in place of the count is estimated', async (odd) => {
    const missing = await answered(undefined);
    const { cost, source } = await answered({ prompt_tokens: odd });
    expect([source, cost]).toEqual(['estimated', missing.cost]);
    expect(cost).toBeGreaterThan(0n);
  });

  test.each(isTooLarge)('%j is a count, and too large: the hold, marked', async (large) => {
    const { cost, held, source } = await answered({ prompt_tokens: large });
    expect([source, cost]).toEqual(['quarantined', held]);
  });

  test('a counter that nothing reads is named in the row', async () => {
    const { row, cost } = await answered({ prompt_tokens: 12, pixels: 700 });
    expect([row.usage_unread, cost]).toEqual([['pixels'], priceOf(12, 0)]);
    const alone = await answered({ pixels: 700 });
    expect([alone.row.usage_unread, alone.source]).toEqual([['pixels'], 'estimated']);
  });

  test('whole numbers as text are numbers, and zero stays zero', async () => {
    expect((await answered({ prompt_tokens: '12' })).cost).toBe(priceOf(12, 0));
    expect((await answered({ prompt_tokens: 0 })).cost).toBe(0n);
  });
});

test('the books are exact to the nano-USD', async () => {
  await assertBilledExactly(shared);
});
