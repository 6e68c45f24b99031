import { expect } from 'vitest';
import { createImage } from 'simulator';
import { testKey, type TestGateway } from '#test/support/gateway.ts';
import { awaitEnd, contents, submitted, synthesis } from '../behaviour/video-requests.ts';
import { textProtocols, type TextProtocol } from '../behaviour/text-protocols.ts';
import { answer as answerTerms } from '../money/surcharged.ts';
import { answerWith, type OwnUpstream } from '../support/own-upstream.ts';
import type { openVideoUpstream } from '../support/video-upstream.ts';
import {
  linesOf,
  prices,
  product,
  reported,
  textPrice,
  type Counts,
  type ShownLine,
} from './receipt-lines.ts';

/* Requests of every kind that a receipt can be of, each with what its page must show. */

const secretOf = (name: string) => `sk-${name}-${'0123456789'.repeat(4)}`;
/** The factors of groups, each with a key of its name. */
const factors = { half: '0.5', third: '0.333333', gift: '0' } as const;
type KeyName = keyof typeof factors | 'test' | 'crew' | 'poor';

const limits = 'context_window: 4000, max_output_tokens: 1000, capabilities: [hosted_tools]';
const ownAt = (name: string, provider: string, more: string) =>
  `  - { name: ${name}, provider: ${provider}, base_url: "UPSTREAM", ${more} }`;
const imageTiers =
  'image_tiers: [{ name: 1K, max_pixels: 2610000, price: 0.0401 }, { name: 2K, max_pixels: 6000000, price: 0.0803 }]';

/** YAML of a gateway for these requests. `UPSTREAM` and `VIDEOS` stand for addresses. */
export const config = `
video: { poll_interval: 1s }
channels:
${ownAt('own', 'openai-compatible', 'protocols: [chat, responses], groups: [default, half, third, gift], models: [text, gratis, open]')}
${ownAt('claude', 'anthropic', 'api_key: k, models: [text, gratis, open, far]')}
${ownAt('gemini', 'gemini', 'api_key: k, models: [text, gratis, open]')}
${ownAt('vectors', 'openai-compatible', 'protocols: [embeddings], models: [vectors]')}
${ownAt('drawn', 'openai-compatible', 'protocols: [images], models: [tokens]')}
  - { name: pictures, provider: simulator, base_url: SIMULATOR, groups: [default, half], models: [{ name: pictures, upstream: demo-image }, { name: layered, upstream: demo-layers }] }
  - { name: broken, provider: simulator, base_url: "SIMULATOR/fault(status=529)", protocols: [chat], priority: 9, models: [{ name: shaky, upstream: demo-chat }, { name: lost, upstream: demo-chat }] }
  - { name: spare, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: [{ name: shaky, upstream: demo-chat }] }
  - { name: seconds, provider: dashscope, base_url: "VIDEOS/api/v1", api_keys: [k], models: [{ name: one, upstream: theirs }] }
  - { name: frames, provider: ark, base_url: "VIDEOS/api/v3", api_keys: [k], protocols: [video-contents], models: [{ name: two, upstream: theirs }] }
models:
  - { id: text, type: chat, ${limits}, price: ${textPrice} }
  - { id: far, type: chat, ${limits}, price: ${textPrice} }
  - { id: shaky, type: chat, ${limits}, price: ${textPrice} }
  - { id: lost, type: chat, ${limits}, price: ${textPrice} }
  - { id: gratis, type: chat, ${limits}, price: { input: 0, output: 0 } }
  - { id: open, type: chat, ${limits}, price: { input: 1, output: 2 } }
  - { id: vectors, type: embedding, context_window: 4000, price: { input: ${prices.input} } }
  - { id: tokens, type: image, price: { input: 5, input_image: 8, output: 10, output_image: 32 } }
  - { id: pictures, type: image, capabilities: [edits, multi_reference], price: { ${imageTiers}, reference_image: 0.0031 } }
  - { id: layered, type: image, capabilities: [layers], price: { ${imageTiers}, layer_factor: 0.123456789 } }
  - { id: one, type: video, price: { video_second: { 720P: 0.1001 } } }
  - { id: two, type: video, price: { video_tokens: { 720P: { text: 7.001, with_video: 4 } } } }
groups:
${Object.entries(factors)
  .map(([name, factor]) => `  - { name: ${name}, price_multiplier: ${factor} }`)
  .join('\n')}
users:
  - { email: admin@example.com, role: admin, balance: 1000, groups: [default, ${Object.keys(factors).join(', ')}] }
  - { email: poor@example.com, balance: 0 }
teams:
  - { name: crew, balance: 100, members: [{ user: admin@example.com }] }
keys:
  - { name: test, user: admin@example.com, secret: ${testKey} }
  - { name: crew, user: admin@example.com, team: crew, secret: ${secretOf('crew')} }
  - { name: poor, user: poor@example.com, secret: ${secretOf('poor')} }
${Object.keys(factors)
  .map(
    (name) =>
      `  - { name: ${name}, user: admin@example.com, group: ${name}, secret: ${secretOf(name)} }`,
  )
  .join('\n')}
`;

/** A request that was made, and what its page must show. */
export interface Kind {
  readonly name: string;
  readonly id: string;
  /** Null: nothing was charged. A function: from the counts of the row, where the gateway estimated them. */
  readonly lines: readonly ShownLine[] | ((counts: Counts) => readonly ShownLine[]) | null;
  readonly factor?: string;
  /** No more than the hold was charged. */
  readonly isCapped?: boolean;
  /** What else has to be on the page. */
  readonly says?: readonly string[];
}

interface Sent {
  readonly path: string;
  readonly body: object;
  readonly key?: KeyName;
}

export interface Asked {
  readonly gateway: TestGateway;
  readonly upstream: OwnUpstream;
  readonly videos: Awaited<ReturnType<typeof openVideoUpstream>>;
}

/** Sends them all. */
export async function sendEveryKind({ gateway, upstream, videos }: Asked): Promise<Kind[]> {
  /** Sends a request. @returns its id */
  async function send({ path, body, key = 'test' }: Sent, status = 200): Promise<string> {
    const secret = key === 'test' ? testKey : secretOf(key);
    const response = await gateway.post(path, body, { authorization: `Bearer ${secret}` });
    expect([path, response.status, await response.text()]).toEqual([
      path,
      status,
      expect.any(String),
    ]);
    return response.headers.get('x-request-id') ?? '';
  }

  async function textKinds(protocol: TextProtocol): Promise<Kind[]> {
    const { name } = protocol;
    const kinds: Kind[] = [];
    const add = async (
      what: string,
      sent: Sent,
      answer: OwnUpstream['answer'],
      rest: Omit<Kind, 'name' | 'id'>,
    ) => {
      upstream.answer = answer;
      kinds.push({ name: `${name}: ${what}`, id: await send(sent), ...rest });
    };
    const counted = (
      what: string,
      counts: Counts,
      {
        above = null,
        stream = false,
        says = [],
      }: { above?: string | null; stream?: boolean; says?: readonly string[] } = {},
    ) =>
      add(what, textOf(protocol, 'text', stream), answerWith(reported(name, counts)), {
        lines: linesOf(counts, above),
        says,
      });

    await counted('plain', { input: 1_205, output: 742 });
    await counted(
      'streamed, from the cache',
      { input: 37, read: 1_611, output: 9 },
      { stream: true },
    );
    await counted(
      'a long prompt',
      { input: 1_300, read: 1_001, output: 77 },
      { above: '2,000', says: ['0.000234788876322 USD less than at the full rate'] },
    );
    await counted('nothing at all', { input: 0, output: 0 });
    if (name === 'messages') {
      const written = { input: 3, read: 211, written: 457, writtenLong: 789, output: 55 };
      await counted('written to the cache', written);
      await counted(
        'nothing beside the cache',
        { input: 0, read: 1_211, written: 457, output: 55 },
        { says: ['73 % of the input was read from the cache, 0.000120450617392 USD less'] },
      );
      const rest = { input: 11, output: 13 };
      const iterations = [
        { type: 'compaction', ...reported(name, written) },
        { type: 'message', ...reported(name, rest) },
      ];
      const usage = { ...reported(name, rest), iterations };
      await add('several samplings', textOf(protocol, 'text'), answerWith(usage), {
        lines: [
          ...linesOf({ ...written, input: 3 + 11, output: 55 + 13 }),
          { words: 'Samplings of the model', quantity: 2, price: '0', per: 'one' },
        ],
      });
    } else {
      await add(
        'reasoning',
        textOf(protocol, 'text'),
        answerWith(reported(name, { input: 19, output: 313, reasoning: 271 })),
        {
          lines: linesOf({ input: 19, output: 313 }),
          says: ['271 of them for reasoning, at the same rate'],
        },
      );
    }
    const gadgets = { ...reported(name, chatCounts), gadgets: { used: 3 } };
    await add('a counter that nothing reads', textOf(protocol, 'text'), answerWith(gadgets), {
      lines: linesOf(chatCounts),
      says: ['Reported, not read', 'gadgets.used'],
    });
    await add('estimated', textOf(protocol, 'text', true), answerWith(undefined), {
      lines: linesOf,
      says: ['estimated, because the upstream reported none'],
    });
    const absurd = { input: 7, output: 98_765 };
    await add('quarantined', textOf(protocol, 'text'), answerWith(reported(name, absurd)), {
      lines: linesOf(absurd),
      isCapped: true,
      says: ['implausible, so at most the hold was charged'],
    });
    const more = { input: 1_900, output: 990 };
    await add('more than was held', textOf(protocol, 'text'), answerWith(reported(name, more)), {
      lines: linesOf(more),
      says: ['Overshoot'],
    });
    await add('free', textOf(protocol, 'gratis'), answerWith(reported(name, more)), {
      lines: null,
      says: ['The model is free, or the request used nothing that has a price.'],
    });

    // Terms that the response reports, with three searches where its protocol counts them.
    const isClaude = name === 'messages';
    const factor = isClaude ? '6.6' : '1.75';
    const words = isClaude ? 'speed fast, inference geo us' : 'service tier priority';
    const tools = {
      chat: { web_search_options: {} },
      responses: { tools: [{ type: 'web_search' }] },
      messages: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      'generate-content': { tools: [{ googleSearch: {} }] },
    }[name];
    const searches = name === 'chat' ? 1 : 3;
    const terms = isClaude ? { speed: 'fast', geo: 'us' } : { tier: 'priority' };
    await add(
      'dearer terms and searches',
      textOf(protocol, 'text', false, tools),
      answerTerms({ ...terms, searches }),
      {
        lines: [
          { words: `Input, ${words}`, quantity: 100, price: product(prices.input, factor) },
          { words: `Output, ${words}`, quantity: 10, price: product(prices.output, factor) },
          { words: 'Fee, web search', quantity: searches, price: '0.0123', per: 'one' },
        ],
      },
    );
    await add(
      'terms without a price',
      textOf(protocol, 'open', false, tools),
      answerTerms({ ...(isClaude ? { speed: 'fast' } : terms), searches }),
      {
        lines: [
          { words: 'Input', quantity: 100, price: '1' },
          { words: 'Output', quantity: 10, price: '2' },
          { words: 'Without a price, web search', quantity: searches, price: '0', per: 'one' },
          {
            words: `Without a price, ${isClaude ? 'speed fast' : words}`,
            quantity: 1,
            price: '0',
            per: 'one',
          },
        ],
      },
    );
    return kinds;
  }

  async function groupKinds(): Promise<Kind[]> {
    upstream.answer = answerWith(reported('chat', chatCounts));
    const lines = linesOf(chatCounts);
    const ask = (key: KeyName) => send({ ...textOf(chat, 'text'), key });
    return [
      { name: 'half', id: await ask('half'), lines, factor: factors.half, says: ['Group half'] },
      {
        name: 'third',
        id: await ask('third'),
        lines,
        factor: factors.third,
        says: ['Group third'],
      },
      {
        name: 'a free group',
        id: await ask('gift'),
        lines: null,
        says: ['The model is free, or the request used nothing that has a price.'],
      },
      { name: 'a team pays', id: await ask('crew'), lines, says: ['crew'] },
    ];
  }

  async function convertedKinds(): Promise<Kind[]> {
    const kinds: Kind[] = [];
    for (const protocol of textProtocols.filter(({ name }) => name !== 'messages')) {
      const counts = { input: 21, read: 101, written: 307, output: 45 };
      upstream.answer = answerWith(reported('messages', counts));
      const id = await send(textOf(protocol, 'far', true));
      kinds.push({ name: `${protocol.name}, converted`, id, lines: linesOf(counts) });
    }
    return kinds;
  }

  async function otherKinds(): Promise<Kind[]> {
    const json = (body: object): OwnUpstream['answer'] => {
      const text = JSON.stringify(body);
      return (_, response) =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    };
    upstream.answer = json({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
      usage: { prompt_tokens: 17, total_tokens: 17 },
    });
    const embedded = await send({ path: '/v1/embeddings', body: { model: 'vectors', input: 'a' } });
    const image = createImage({ type: 'png', width: 64, height: 64 }).toString('base64');
    upstream.answer = json({
      data: [{ b64_json: image }],
      usage: {
        input_tokens: 312,
        input_tokens_details: { text_tokens: 12, image_tokens: 300 },
        output_tokens: 1_156,
        output_tokens_details: { text_tokens: 100, image_tokens: 1_056 },
      },
    });
    const draw = (body: object, key: KeyName = 'test') =>
      send({ path: '/v1/images/generations', body: { prompt: 'a', ...body }, key });
    const source = `data:image/png;base64,${image}`;
    return [
      {
        name: 'embeddings',
        id: embedded,
        lines: [{ words: 'Input', quantity: 17, price: prices.input }],
      },
      {
        name: 'pictures by tokens',
        id: await draw({ model: 'tokens' }),
        lines: [
          { words: 'Input', quantity: 12, price: '5' },
          { words: 'Pictures in the input', quantity: 300, price: '8' },
          { words: 'Output', quantity: 100, price: '10' },
          { words: 'Pictures in the output', quantity: 1_056, price: '32' },
        ],
      },
      {
        name: 'pictures of two sizes',
        id: await draw({
          model: 'pictures',
          prompt: 'a house, sizes 2048x2048 1024x1024 1024x1024',
          n: 3,
        }),
        lines: [
          { words: 'Pictures, 2K', quantity: 1, price: '0.0803', per: 'one' },
          { words: 'Pictures, 1K', quantity: 2, price: '0.0401', per: 'one' },
        ],
      },
      {
        name: 'a picture of a group, with sources',
        id: await draw(
          { model: 'pictures', prompt: 'a house, sizes 64x64', image: [source, source, source] },
          'half',
        ),
        factor: factors.half,
        lines: [
          { words: 'Pictures, 1K', quantity: 1, price: '0.0401', per: 'one' },
          { words: 'Source pictures', quantity: 2, price: '0.0031', per: 'one' },
        ],
      },
      {
        name: 'layers',
        id: await draw({
          model: 'layered',
          prompt: '16 layers, sizes 2048x2048 1000x265',
          image: source,
          layer_decomposition: true,
        }),
        lines: [
          { words: 'Pictures, 2K', quantity: 1, price: '0.0803', per: 'one' },
          // 0.0401 × 0.123456789, kept to 10⁻¹⁵.
          {
            words: 'Layers of a picture, 1K',
            quantity: 16,
            price: '0.004950617238900',
            per: 'one',
          },
        ],
      },
    ];
  }

  async function videoKinds(): Promise<Kind[]> {
    const one = await submitted(gateway.url, synthesis, { resolution: '720P', seconds: 5 });
    videos.end({ status: 'succeeded', usage: 5.04 });
    await awaitEnd(gateway.url, synthesis, one.id);
    const two = await submitted(gateway.url, contents, { resolution: '720p', seconds: 5 });
    videos.end({ status: 'succeeded', usage: 108_900 });
    await awaitEnd(gateway.url, contents, two.id);
    const failed = await submitted(gateway.url, synthesis, { resolution: '720P', seconds: 5 });
    videos.end({ status: 'failed' });
    await awaitEnd(gateway.url, synthesis, failed.id, 'failed');
    return [
      {
        name: 'a video by seconds',
        id: one.requestId,
        lines: [{ words: 'Video, 720P', quantity: 5.04, price: '0.1001', per: 'one' }],
      },
      {
        name: 'a video by tokens',
        id: two.requestId,
        lines: [
          { words: 'Video, 720P, without a source video', quantity: 108_900, price: '7.001' },
        ],
      },
      { name: 'a video that failed', id: failed.requestId, lines: null },
    ];
  }

  async function failedKinds(): Promise<Kind[]> {
    const nothing = { lines: null, says: ['Nothing was charged'] };
    const shaky = await send(textOf(chat, 'shaky'));
    return [
      {
        name: 'the second channel',
        id: shaky,
        lines: linesOf,
        says: ['Failed attempts are not charged.'],
      },
      { name: 'every channel failed', id: await send(textOf(chat, 'lost'), 529), ...nothing },
      { name: 'no such model', id: await send(textOf(chat, 'nothing'), 400), ...nothing },
      {
        name: 'no money',
        id: await send({ ...textOf(chat, 'text'), key: 'poor' }, 402),
        ...nothing,
      },
    ];
  }

  const kinds: Kind[] = [];
  for (const protocol of textProtocols) kinds.push(...(await textKinds(protocol)));
  kinds.push(...(await groupKinds()), ...(await convertedKinds()), ...(await otherKinds()));
  kinds.push(...(await videoKinds()), ...(await failedKinds()));
  return kinds;
}

const textOf = (protocol: TextProtocol, model: string, stream = false, more: object = {}) => ({
  path: protocol.path(model, stream),
  body: { ...protocol.body(model, stream), ...more },
});

const chat = textProtocols[0]!;
const chatCounts: Counts = { input: 1_201, read: 333, output: 745 };
