import { describe, expect, test } from 'vitest';
import { textProtocols, type TextProtocol } from '../behaviour/text-protocols.ts';
import { assertBilledExactly } from './billed-gateway.ts';
import { answer, shareSurcharged } from './surcharged.ts';

/* Ways to ask for what costs more: every spelling is refused or left out where it has no price. */

const { shared, ask } = shareSurcharged();
const [chat, responses, messages, generateContent] = textProtocols;

describe('spellings that could request something unpriced', () => {
  const refuses = async (protocol: TextProtocol | undefined, more: object, headers = {}) => {
    shared.upstream.answer = answer({});
    const response = await ask(protocol!, 'plain', false, more, headers);
    expect(response.status).toBe(400);
    expect(shared.upstream.asked).toEqual([]);
    return await response.text();
  };

  test.each([
    ['another case', chat, { Service_Tier: 'priority' }],
    ['a letter that folds', responses, { '\u017fervice_tier': 'priority' }],
    ['another case', messages, { SPEED: 'fast' }],
    ['both spellings', generateContent, { serviceTier: 'standard', service_tier: 'priority' }],
    ['tools in another case', chat, { Tools: [{ type: 'web_search' }] }],
  ])('%s', async (_, protocol, more) => {
    expect(await refuses(protocol, more)).toMatch(/more than once|appears twice|duplicate/i);
  });

  test('the name of an enumeration value, and its number', async () => {
    const named = { serviceTier: 'SERVICE_TIER_PRIORITY' };
    expect(await refuses(generateContent, named)).toContain('service_tier');
    expect(await refuses(generateContent, { serviceTier: 3 })).toContain('serviceTier');
  });

  test.each([
    ['models', chat, { models: ['dearer'] }],
    ['fallbacks', chat, { fallbacks: ['dearer'] }],
    ['models', responses, { models: ['dearer'] }],
  ])('another model in %s', async (name, protocol, more) => {
    expect(await refuses(protocol, more)).toContain(`${name}: no other model may answer`);
  });

  test('a beta in the body', async () => {
    const text = await refuses(messages, { anthropic_beta: ['a-1', 'context-1m-2025-08-07'] });
    expect(text).toContain('anthropic_beta');
  });
});

test.each([
  { fallbacks: [{ model: 'dearer' }] },
  { tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'dearer' }] },
])('messages: %j, which belongs to a beta, passes with its header', async (more) => {
  shared.upstream.answer = answer({});
  const response = await ask(messages!, 'plain', false, more, { 'anthropic-beta': 'any-1' });
  await response.text();
  expect(response.status).toBe(200);
  expect(shared.upstream.asked[0]?.body).toMatchObject(more);
});

describe('betas of messages', () => {
  const sent = async (name: string, betas: string) => {
    shared.upstream.answer = answer({});
    const response = await ask(messages!, name, false, {}, { 'anthropic-beta': betas });
    await response.text();
    expect(response.status).toBe(200);
    const { headers } = shared.upstream.asked[0]!;
    return [headers['anthropic-beta'], response.headers.get('x-sluice-rewrites')];
  };

  test('all others pass unchanged', async () => {
    const betas = 'claude-code-20250219, oauth-2025-04-20,interleaved-thinking-2025-05-14';
    expect(await sent('plain', betas)).toEqual([betas, null]);
  });

  test('a long context passes where the window is long, fast mode where it has a price', async () => {
    const betas = 'a-1,context-1m-2025-08-07,fast-mode-2026-02-01,b-2';
    expect(await sent('plain', betas)).toEqual(['a-1,b-2', 'beta.context-1m,beta.fast-mode']);
    expect(await sent('priced', betas)).toEqual([
      'a-1,fast-mode-2026-02-01,b-2',
      'beta.context-1m',
    ]);
    expect(await sent('plain', 'context-1m-2025-08-07')).toEqual([undefined, 'beta.context-1m']);
    expect(await sent('plain', 'a-1, Context-1M-2025-08-07')).toEqual(['a-1', 'beta.context-1m']);
  });
});

test('the books are exact to the nano-USD', async () => {
  await assertBilledExactly(shared);
});
