import { createImage } from 'simulator';
import { describe, expect, test } from 'vitest';
import { openGateway, rowOf } from '../behaviour/support.ts';
import { testKey, type TestGateway } from '../support/gateway.ts';
import { assertBilledExactly, shareBilledGateway } from './billed-gateway.ts';
import { nanoOf } from './books.ts';

/* Pictures are priced by their returned sizes, or by tokens of which those of pictures are apart. */

const staffKey = 'sk-staff-0123456789abcdefghijklmnopqrstuv';

const tiers =
  'image_tiers: [{ name: 1K, max_pixels: 2610000, price: 0.04 }, { name: 2K, max_pixels: 6000000, price: 0.08 }]';

const models = {
  /** Its entries have sizes of their own. */
  pictures: ['demo-image', 'edits, multi_reference', `${tiers}, reference_image: 0.003`],
  layered: ['demo-layers', 'layers', `${tiers}, layer_factor: 0.5`],
  sets: ['seedream-4-0', 'multi_reference', `${tiers}, reference_image: 0.003`],
  plain: ['demo-image', 'edits', tiers],
  tokens: ['own', 'edits', 'input: 5, input_image: 8, output: 10, output_image: 32'],
  bare: ['own', '', tiers],
  free: ['own', '', 'input: 0, output: 0'],
  sizeless: ['own', 'multi_reference', `${tiers}, reference_image: 0.003`],
  'no-factor': ['demo-layers', 'layers', tiers],
  'no-references': ['demo-image', 'edits, multi_reference', tiers],
  unpriced: ['demo-image', '', 'input: 1'],
} satisfies Record<string, readonly [upstream: string, capabilities: string, price: string]>;

const entries = Object.entries(models);

const shared = shareBilledGateway({
  balance: 1_000,
  channels: entries
    .map(([name, [upstream]]) =>
      upstream === 'own'
        ? `  - { name: ${name}, provider: openai-compatible, base_url: "UPSTREAM", protocols: [images], models: [${name}] }`
        : `  - { name: ${name}, provider: simulator, base_url: SIMULATOR, groups: [default, staff], models: [{ name: ${name}, upstream: ${upstream} }] }`,
    )
    .join('\n'),
  models: [],
  moreModels: entries
    .map(
      ([id, [, can, price]]) =>
        `  - { id: ${id}, type: image, capabilities: [${can}], price: { ${price} } }`,
    )
    .join('\n'),
  moreUsers: '  - { email: staff@example.com, balance: 100 }',
  moreKeys: `  - { name: staff, user: staff@example.com, group: staff, secret: ${staffKey} }`,
  settings: 'groups: [{ name: staff, price_multiplier: 1.5 }]',
});

const path = '/v1/images/generations';

interface Drawn {
  readonly status: number;
  readonly id: string;
  readonly message: string | undefined;
  readonly param: string | undefined;
  readonly data: readonly Record<string, unknown>[];
}

async function draw(
  gateway: TestGateway,
  body: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<Drawn> {
  const response = await gateway.post(path, body, headers);
  const json = (await response.json()) as {
    error?: { message: string; param: string };
    data?: Record<string, unknown>[];
  };
  return {
    status: response.status,
    id: response.headers.get('x-request-id') ?? '',
    message: json.error?.message,
    param: json.error?.param,
    data: json.data ?? [],
  };
}

async function charged(gateway: TestGateway, drawn: Drawn): Promise<bigint> {
  expect(drawn).toMatchObject({ status: 200 });
  const row = await rowOf(gateway, drawn.id);
  expect(row).toMatchObject({ outcome: 'completed', protocol: 'images', estimated: false });
  return nanoOf(row.cost);
}

const reference = `data:image/png;base64,${createImage({ type: 'png', width: 64, height: 64 }).toString('base64')}`;

/** What the upstream of the test's own answers. */
function answer(body: unknown): void {
  shared.upstream.answer = (_, response) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(typeof body === 'string' ? body : JSON.stringify(body));
}

const png = (width: number, height: number) =>
  createImage({ type: 'png', width, height }).toString('base64');

describe('what is charged by tiers', () => {
  test('a base and its layers, each by its own size', async () => {
    const { gateway } = shared;
    const drawn = await draw(gateway, {
      model: 'layered',
      prompt: '16 layers, sizes 2048x2048 1000x265',
      image: reference,
      layer_decomposition: true,
    });
    expect(drawn.data).toHaveLength(17);
    expect(await charged(gateway, drawn)).toBe(400_000_000n);
    expect((await rowOf(gateway, drawn.id)).units).toMatchObject({
      images: 1,
      layers: 16,
      reference_images: 1,
    });
    expect((await rowOf(gateway, drawn.id)).receipt).toEqual([
      { part: 'image_tiers.2K', quantity: 1, price: '0.08' },
      { part: 'layer_factor.1K', quantity: 16, price: '0.02' },
    ]);
  });

  test('references after the first one', async () => {
    const { gateway } = shared;
    const drawn = await draw(gateway, {
      model: 'pictures',
      prompt: 'a house, sizes 2048x2048',
      image: [reference, reference, reference],
    });
    expect(await charged(gateway, drawn)).toBe(86_000_000n);
    expect((await rowOf(gateway, drawn.id)).units).toMatchObject({
      images: 1,
      reference_images: 3,
    });
    expect(await partsOf(drawn.id)).toEqual({ 'image_tiers.2K': 1, reference_image: 2 });
  });

  test.each([
    ['1500x1740', 1, 40_000_000n],
    ['1500x1741', 1, 80_000_000n],
  ])('a picture of %s', async (size, n, nano) => {
    const { gateway } = shared;
    const drawn = await draw(gateway, { model: 'pictures', prompt: `a house, sizes ${size}`, n });
    expect(await charged(gateway, drawn)).toBe(nano);
  });

  test('two pictures in a group with a factor', async () => {
    const { gateway } = shared;
    const drawn = await draw(
      gateway,
      { model: 'pictures', prompt: 'a house, sizes 1500x1740 1500x1741', n: 2 },
      { authorization: `Bearer ${staffKey}` },
    );
    expect(await charged(gateway, drawn)).toBe(180_000_000n);
  });

  test('not the size asked for, but the one that came', async () => {
    const { gateway } = shared;
    const body = { model: 'pictures', prompt: 'a house, sizes 2000x2000', size: '1024x1024' };
    expect(await charged(gateway, await draw(gateway, body))).toBe(80_000_000n);
  });

  test.each([
    ['the references that the upstream counted', 2, 43_000_000n],
    ['no more references than were sent', 9, 46_000_000n],
  ])('%s', async (_, counted, nano) => {
    const { gateway } = shared;
    const body = { model: 'pictures', prompt: 'sizes 1024x1024', image: Array(3).fill(reference) };
    const fault = { 'x-simulator-fault': `input-images=${counted}` };
    expect(await charged(gateway, await draw(gateway, body, fault))).toBe(nano);
  });

  test('the good pictures of a set', async () => {
    const { gateway } = shared;
    const drawn = await draw(gateway, {
      model: 'sets',
      prompt: 'fail picture 2, 4 pictures, sizes 1024x1024',
      sequential_image_generation: 'auto',
      sequential_image_generation_options: { max_images: 4 },
    });
    expect(drawn.data).toHaveLength(4);
    expect(await charged(gateway, drawn)).toBe(120_000_000n);
    expect((await rowOf(gateway, drawn.id)).units).toMatchObject({ images: 3 });
  });

  const sized = (size: string | undefined, picture: string) => ({
    created: 1,
    size,
    data: [{ b64_json: picture }],
  });
  test.each([
    ["the response's size, which the picture then has", sized('1500x1741', png(8, 8)), 80_000_000n],
    ["the picture's own header", sized(undefined, png(1500, 1740)), 40_000_000n],
    ["the picture's own header, if the response has a word", sized('auto', png(2000, 2000)), null],
  ])('without a size of the entry: %s', async (_, response, nano) => {
    answer(response);
    const drawn = await draw(shared.gateway, { model: 'bare', prompt: 'a' });
    if (nano === null) expect(drawn.status).toBe(502);
    else expect(await charged(shared.gateway, drawn)).toBe(nano);
    expect(drawn.data[0]?.['size']).toBe(nano === null ? undefined : response.size);
  });

  test('the references that the upstream does not count, which the response then says', async () => {
    const { gateway } = shared;
    const data = [{ url: 'https://pictures.example/a.png', size: '1024x1024' }];
    answer({ data, usage: { generated_images: 1, output_tokens: 7, total_tokens: 7 } });
    const image = [reference, reference, reference];
    const response = await gateway.post(path, { model: 'sizeless', prompt: 'a', image });
    expect(await response.json()).toEqual({
      data,
      usage: { input_images: 3, generated_images: 1, output_tokens: 7, total_tokens: 7 },
    });
    const row = await rowOf(gateway, response.headers.get('x-request-id') ?? '');
    expect(nanoOf(row.cost)).toBe(46_000_000n);
  });
});

describe('what is charged by tokens', () => {
  const counted = (input: object, output: object) => ({
    data: [{ b64_json: png(8, 8) }],
    usage: { ...input, ...output },
  });

  test('text and pictures apart, in and out', async () => {
    answer(
      counted(
        { input_tokens: 312, input_tokens_details: { text_tokens: 12, image_tokens: 300 } },
        { output_tokens: 1156, output_tokens_details: { text_tokens: 100, image_tokens: 1056 } },
      ),
    );
    const drawn = await draw(shared.gateway, { model: 'tokens', prompt: 'a' });
    expect(await charged(shared.gateway, drawn)).toBe(37_252_000n);
    expect(await rowOf(shared.gateway, drawn.id)).toMatchObject({
      tokens: { input: 312, output: 1156 },
      units: { images: 1, input_image_tokens: 300, output_image_tokens: 1056 },
    });
    const parts = { input: 12, input_image: 300, output: 100, output_image: 1056 };
    expect(await partsOf(drawn.id)).toEqual(parts);
  });

  test('no more than the hold for counts that cannot be true', async () => {
    answer(counted({ input_tokens: 2 ** 45 }, { output_tokens: 5 }));
    const { id, status } = await draw(shared.gateway, { model: 'tokens', prompt: 'a' });
    expect(status).toBe(200);
    const { held } = await kept(id);
    expect(nanoOf((await rowOf(shared.gateway, id)).cost)).toBe(held);
  });

  test('without counts nothing, and the picture is not shown', async () => {
    answer({ data: [{ b64_json: png(8, 8) }] });
    const { id, status, data } = await draw(shared.gateway, { model: 'tokens', prompt: 'a' });
    expect([status, data]).toEqual([502, []]);
    expect(await rowOf(shared.gateway, id)).toMatchObject({ outcome: 'failed', cost: null });
    expect(await kept(id)).toMatchObject({
      attempts: [{ result: 'usage-missing', units: { images: 1 } }],
    });
  });

  test('without counts nothing for a model whose price is 0, and the picture is shown', async () => {
    answer({ data: [{ b64_json: png(8, 8) }] });
    const { id, status } = await draw(shared.gateway, { model: 'free', prompt: 'a' });
    expect(status).toBe(200);
    expect(nanoOf((await rowOf(shared.gateway, id)).cost)).toBe(0n);
  });
});

describe('what cannot be charged is not shown, and is the loss of the operator', () => {
  test.each([
    ['pictures', { 'x-simulator-fault': 'size=missing' }, 'size-missing'],
    ['pictures', { 'x-simulator-fault': 'size=9000x9000' }, 'size-above-tiers'],
  ])('%s: %j', async (model, headers, result) => {
    const { gateway } = shared;
    const { status, id, message } = await draw(gateway, { model, prompt: 'a', n: 2 }, headers);
    expect([status, message]).toEqual([502, 'upstream response abnormal']);
    expect(await rowOf(gateway, id)).toMatchObject({ outcome: 'failed', cost: null });
    expect(await kept(id)).toMatchObject({ attempts: [{ result, units: { images: 2 } }] });
  });

  test('after eleven of them the key gets the reason for that model, and the others as ever', async () => {
    const { gateway, upstream } = shared;
    answer({ data: [{ b64_json: png(8, 8) }] });
    for (let at = 0; at < 11; at += 1) {
      const { status, message } = await draw(gateway, { model: 'sizeless', prompt: 'a' });
      expect([status, message]).toEqual([502, 'upstream response abnormal']);
    }
    const before = upstream.asked.length;
    const { status, message, id } = await draw(gateway, { model: 'sizeless', prompt: 'a' });
    expect([status, message]).toEqual([
      502,
      'upstream response abnormal: pictures of this model come without the size or usage that they are priced by, and only the operator of this gateway can fix that',
    ]);
    expect(upstream.asked.length).toBe(before);
    expect(await rowOf(gateway, id)).toMatchObject({
      outcome: 'refused',
      error: 'pictures_unchargeable',
    });
    expect((await draw(gateway, { model: 'bare', prompt: 'a' })).status).toBe(200);
  });

  test.each([
    ['4096x4096', 400],
    ['4K', 400],
    ['2048x2048', 200],
    ['2K', 200],
    ['auto', 200],
  ])('a size above the tiers is refused before it is sent: %s', async (size, expected) => {
    answer({ data: [{ b64_json: png(8, 8) }] });
    const before = shared.upstream.asked.length;
    const { status, param, id } = await draw(shared.gateway, { model: 'bare', prompt: 'a', size });
    expect([status, param]).toEqual([expected, expected === 400 ? 'size' : undefined]);
    expect(shared.upstream.asked.length - before).toBe(expected === 400 ? 0 : 1);
    const { outcome } = await rowOf(shared.gateway, id);
    expect(outcome).toBe(expected === 400 ? 'refused' : 'completed');
  });

  test('a response without pictures', async () => {
    answer({ data: [] });
    const { status, id } = await draw(shared.gateway, { model: 'bare', prompt: 'a' });
    expect(status).toBe(502);
    expect(await kept(id)).toMatchObject({ attempts: [{ result: 'no-picture' }] });
  });

  test('a set of which every picture failed', async () => {
    answer({ data: [{ error: { code: 'x' } }, { error: { code: 'x' } }], size: '8x8' });
    const { status, id } = await draw(shared.gateway, { model: 'bare', prompt: 'a' });
    expect(status).toBe(502);
    expect(await rowOf(shared.gateway, id)).toMatchObject({ outcome: 'failed', cost: null });
  });
});

describe('what is held', () => {
  test.each([
    ['the dearest tier for each picture', { model: 'pictures', n: 3 }, 240_000_000n],
    [
      'references after the first one',
      { model: 'pictures', image: [reference, reference, reference] },
      86_000_000n,
    ],
    [
      'a base and sixteen layers',
      { model: 'layered', image: reference, layer_decomposition: true },
      720_000_000n,
    ],
    [
      'the largest number of a set',
      {
        model: 'sets',
        sequential_image_generation: 'auto',
        sequential_image_generation_options: { max_images: 5 },
      },
      400_000_000n,
    ],
  ])('%s', async (_, body, held) => {
    const { gateway } = shared;
    const { id, status } = await draw(gateway, { prompt: 'a house, sizes 64x64', ...body });
    expect(status).toBe(200);
    expect((await kept(id)).held).toBe(held);
  });

  test('tokens: half the bytes of the prompt, sources, and the longest output of each picture', async () => {
    answer({ data: [{ b64_json: png(8, 8) }], usage: { input_tokens: 1, output_tokens: 1 } });
    const { id } = await draw(shared.gateway, { model: 'tokens', prompt: 'a'.repeat(100), n: 2 });
    expect((await kept(id)).held).toBe(50n * 8_000n + 2n * 16_384n * 32_000n);
  });
});

describe('an incomplete price is refused with nothing sent and nothing held', () => {
  test.each([
    [
      'no-factor',
      { image: reference, layer_decomposition: true },
      /: no price is set for layers$/,
      'layer_decomposition',
    ],
    [
      'no-references',
      { image: [reference, reference] },
      /: no price is set for more than one reference image$/,
      'image',
    ],
    ['unpriced', {}, /: no price is set$/, 'model'],
  ])('%s', async (model, body, words, member) => {
    const { gateway } = shared;
    gateway.simulator.clear();
    const { status, message, param, id } = await draw(gateway, { model, prompt: 'a', ...body });
    expect([status, param]).toEqual([400, member]);
    expect(message).toMatch(words);
    expect(gateway.simulator.requests()).toEqual([]);
    expect(await rowOf(gateway, id)).toMatchObject({ outcome: 'refused', cost: null });
    expect((await kept(id)).held).toBeNull();
  });

  test('but what has a price is served', async () => {
    const { gateway } = shared;
    const one = { model: 'no-references', prompt: 'sizes 64x64', image: [reference] };
    expect(await charged(gateway, await draw(gateway, one))).toBe(40_000_000n);
  });
});

test('and the books are right to the nano-USD', () => assertBilledExactly(shared));

test('of parallel requests with room for one, one is admitted', async () => {
  const gateway = await openGateway({
    config: `
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, models: [{ name: pictures, upstream: demo-image }] }
models:
  - { id: pictures, type: image, price: { ${tiers} } }
users: [{ email: tester@example.com, balance: 0.08 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey} }]
`,
  });
  const body = { model: 'pictures', prompt: 'a house, sizes 2000x2000' };
  const drawn = await Promise.all(Array.from({ length: 8 }, () => draw(gateway, body)));
  expect(drawn.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(drawn.filter(({ status }) => status === 402)).toHaveLength(7);
  expect(gateway.simulator.requests()).toHaveLength(1);
});

async function kept(id: string) {
  const { gateway } = shared;
  await rowOf(gateway, id);
  const { held, attempts, receipt } = await gateway.app.database.kysely
    .selectFrom('usage')
    .select(['held', 'attempts', 'receipt'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return {
    held,
    attempts: JSON.parse(attempts) as Record<string, unknown>[],
    receipt: JSON.parse(receipt ?? '[]') as { part: string; quantity: number }[],
  };
}

async function partsOf(id: string): Promise<Record<string, number>> {
  const { receipt } = await kept(id);
  return Object.fromEntries(receipt.map(({ part, quantity }) => [part, quantity]));
}
