import { expect } from 'vitest';
import type { TextProtocol } from '../behaviour/text-protocols.ts';
import { usageAt, type OwnUpstream } from '../support/own-upstream.ts';
import { type BilledGateway, shareBilledGateway } from './billed-gateway.ts';

/* Models and answers with surcharges: service tiers, fast modes, regions and searches. */

/** The key of a user with 5 USD. */
export const poor = 'sk-poor-0123456789abcdefghijklmnopqrstuv';

const price = 'input: 1000, output: 2000';
const multipliers = '{ service_tier.priority: 2, speed.fast: 6, inference_geo.us: 1.1 }';
const limits = 'context_window: 4000, max_output_tokens: 1000, capabilities: [hosted_tools]';
const model = (id: string, more: string) => `  - { id: ${id}, type: chat, ${limits}, ${more} }`;
const channel = (name: string, protocols: string, models: string) =>
  `  - { name: ${name}, provider: openai-compatible, base_url: "UPSTREAM", protocols: [${protocols}], models: [${models}] }`;
const vendor = (provider: string) =>
  `  - { name: ${provider}, provider: ${provider}, base_url: "UPSTREAM", api_key: k, models: [priced, plain, allowed, long, brim] }`;

/** What a response says of its surcharges. */
export interface Reported {
  readonly tier?: string;
  /** Of messages. */
  readonly speed?: string;
  readonly geo?: string;
  readonly searches?: number;
}

export const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const event = (type: string, more: object): string => `event: ${type}\n${data({ type, ...more })}`;

/** Answers of 100 tokens for 10, which report this where each protocol does. */
export function answer({ tier, speed, geo, searches = 0 }: Reported): OwnUpstream['answer'] {
  return ({ path, body }, response) => {
    const stream = body['stream'] === true || path.includes(':stream');
    const usage = usageAt(path, 100, 10);
    const found = (item: unknown): unknown[] => Array.from({ length: searches }, () => item);
    let whole: object;
    let events: string;
    if (path.endsWith('/chat/completions')) {
      const base = { id: 'c', model: 'm', service_tier: tier };
      const annotations = found({
        type: 'url_citation',
        url_citation: { url: 'https://a.example' },
      });
      const message = { role: 'assistant', content: 'so', annotations };
      const choice = (part: object, finish: string | null) => ({
        choices: [{ index: 0, ...part, finish_reason: finish }],
      });
      whole = { ...base, ...choice({ message }, 'stop'), usage };
      events =
        data({ ...base, ...choice({ delta: message }, null) }) +
        data({ ...base, ...choice({ delta: {} }, 'stop') }) +
        data({ ...base, choices: [], usage }) +
        'data: [DONE]\n\n';
    } else if (path.endsWith('/responses')) {
      const text = { type: 'output_text', text: 'so', annotations: [] };
      const message = { id: 'i', type: 'message', role: 'assistant', status: 'completed' };
      const search = { id: 's', type: 'web_search_call', action: { type: 'search', query: 'x' } };
      const open = { id: 'o', type: 'web_search_call', action: { type: 'open_page', url: 'x' } };
      const items = [...found(search), open, { ...message, content: [text] }];
      const base = { id: 'r', object: 'response', created_at: 1, model: 'm', output: items };
      whole = { ...base, status: 'completed', service_tier: tier, usage };
      events =
        event('response.created', { response: { ...base, output: [], service_tier: 'auto' } }) +
        items
          .map((item, at) => event('response.output_item.done', { output_index: at, item }))
          .join('') +
        event('response.output_text.delta', { item_id: 'i', output_index: 9, delta: 'so' }) +
        event('response.completed', { response: { ...whole, output: [] } });
    } else if (path.endsWith('/messages')) {
      const reported = {
        ...usage,
        service_tier: tier,
        speed,
        inference_geo: geo,
        server_tool_use: { web_search_requests: searches },
      };
      const base = { id: 'm', type: 'message', role: 'assistant', model: 'm' };
      whole = {
        ...base,
        content: [{ type: 'text', text: 'so' }],
        stop_reason: 'end_turn',
        usage: reported,
      };
      const delta = { type: 'text_delta', text: 'so' };
      events =
        event('message_start', {
          message: { ...base, content: [], usage: { input_tokens: 100, output_tokens: 1 } },
        }) +
        event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
        event('content_block_delta', { index: 0, delta }) +
        event('content_block_stop', { index: 0 }) +
        event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: reported }) +
        event('message_stop', {});
    } else {
      whole = {
        candidates: [
          {
            content: { role: 'model', parts: [{ text: 'so' }] },
            finishReason: 'STOP',
            groundingMetadata: { webSearchQueries: ['', ...found('weather')] },
          },
        ],
        usageMetadata: { ...usage, serviceTier: tier },
      };
      events = data(whole);
    }
    response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
    response.end(stream ? events : JSON.stringify(whole));
  };
}

export interface Surcharged {
  readonly shared: BilledGateway;
  ask(
    protocol: TextProtocol,
    model: string,
    stream: boolean,
    more: object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>;
  /** The quantities of a receipt by its parts, and the cost in nano-USD. */
  receiptOf(response: Response): Promise<{ parts: Record<string, number>; cost: bigint | null }>;
}

/**
 * One gateway for all tests of a file. Its models: `priced` has a price for every surcharge, `plain` for none,
 * `allowed` lets some pass without a price; a prompt of 100 tokens is long for `long`, and not yet for `brim`; `converted`
 * is reached in another protocol, and so are `only-chat`, `only-responses` (priced) and `plain-chat`, `plain-responses` at
 * OpenAI.
 */
export function shareSurcharged(): Surcharged {
  const shared = shareBilledGateway({
    balance: 1_000_000,
    channels: [
      channel('own', 'chat, responses', 'priced, plain, allowed, long, brim'),
      vendor('anthropic'),
      vendor('gemini'),
      channel('only-chat', 'chat', 'converted'),
      ...['chat', 'responses'].map(
        (name) =>
          `  - { name: openai-${name}, provider: openai, base_url: "UPSTREAM", api_key: k, protocols: [${name}], models: [only-${name}, plain-${name}] }`,
      ),
    ].join('\n'),
    models: [],
    moreModels: [
      model(
        'priced',
        `price: { ${price}, multipliers: ${multipliers}, fees: { web_search: 0.01 } }`,
      ),
      model('plain', `price: { ${price} }`),
      model(
        'long',
        `price: { ${price}, multipliers: ${multipliers}, tiers: [{ above: 99, input: 3000 }] }`,
      ),
      model('brim', `price: { ${price}, tiers: [{ above: 100, input: 3000 }] }`),
      model('allowed', `allow: [service_tier.priority, speed.fast], price: { ${price} }`),
      model('converted', `price: { ${price} }`),
      ...['chat', 'responses'].flatMap((name) => [
        model(`only-${name}`, `price: { ${price}, multipliers: ${multipliers} }`),
        model(`plain-${name}`, `price: { ${price} }`),
      ]),
    ].join('\n'),
    moreUsers: '  - { email: poor@example.com, balance: 5 }',
    moreKeys: `  - { name: poor, user: poor@example.com, secret: ${poor} }`,
  });
  return {
    shared,
    ask(protocol, model, stream, more, headers = {}) {
      shared.upstream.clear();
      const body = { ...protocol.body(model, stream), ...more };
      return shared.gateway.post(protocol.path(model, stream), body, headers);
    },
    async receiptOf(response) {
      await response.text();
      expect(response.status).toBe(200);
      await shared.gateway.usage();
      const id = response.headers.get('x-request-id') ?? '';
      const { receipt, cost } = await shared.gateway.app.database.kysely
        .selectFrom('usage')
        .select(['receipt', 'cost'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      const items = JSON.parse(receipt ?? '[]') as { part: string; quantity: number }[];
      return { parts: Object.fromEntries(items.map((item) => [item.part, item.quantity])), cost };
    },
  };
}
