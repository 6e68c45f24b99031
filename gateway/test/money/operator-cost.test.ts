import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { sumUsage } from '#usage/index.ts';
import { ask, rowOf } from '../behaviour/support.ts';
import { eachCall, textProtocols, type TextProtocol } from '../behaviour/text-protocols.ts';
import { usageAt } from '../support/own-upstream.ts';
import {
  assertBilledExactly,
  ownChannel,
  shareBilledGateway,
  simulatorChannel,
} from './billed-gateway.ts';
import { nanoOf } from './books.ts';

/* B-20: what an upstream used in an attempt that failed is the operator's loss, and is reported as such. */

const used = { input: 30, output: 7 };

const modelOf = (name: string): string => name.replace(' ', '-');
// A model for each case: none of its channels fails often enough to be passed over.
const models = eachCall.map(({ name }) => modelOf(name));

const shared = shareBilledGateway({
  balance: 1_000,
  channels: models
    .flatMap((model) => [
      ownChannel({ name: `own-${model}`, model, more: 'priority: 1' }),
      simulatorChannel({ name: `spare-${model}`, model }),
    ])
    .join('\n'),
  models,
});

const usage = (protocol: TextProtocol): object =>
  usageAt(protocol.path('m', false), used.input, used.output);
const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

/** How a response of each protocol begins that tells its usage before its end: with some content, and without. */
const beginnings: Record<TextProtocol['name'], (content: boolean, usage: object) => string> = {
  chat: (content, counts) =>
    data({ id: 'c', choices: [{ index: 0, delta: { content: content ? 'so' : '' } }] }) +
    data({ id: 'c', choices: [], usage: counts }),
  // Here only the last event has it, which may be that of a failure.
  responses: (content, counts) =>
    data({ type: 'response.created', response: { id: 'r', status: 'in_progress' } }) +
    (content ? data({ type: 'response.output_text.delta', delta: 'so' }) : '') +
    data({
      type: 'response.failed',
      response: { id: 'r', status: 'failed', error: { code: 'server_error' }, usage: counts },
    }),
  messages: (content, counts) =>
    data({ type: 'message_start', message: { id: 'm', content: [], usage: counts } }) +
    (content
      ? data({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'so' } })
      : ''),
  'generate-content': (content, counts) =>
    data({
      ...(content && { candidates: [{ index: 0, content: { parts: [{ text: 'so' }] } }] }),
      usageMetadata: counts,
    }),
};

/** Invalid responses that still report usage. */
const failedResponses: Record<TextProtocol['name'], (usage: object) => object> = {
  chat: (counts) => ({ id: 'c', error: { code: 502, message: 'x' }, usage: counts }),
  responses: (counts) => ({
    id: 'r',
    status: 'failed',
    error: { code: 'server_error' },
    output: [],
    usage: counts,
  }),
  messages: (counts) => ({ id: 'm', error: { type: 'api_error' }, usage: counts }),
  'generate-content': (counts) => ({ usageMetadata: counts, modelVersion: 'm' }),
};

function stream(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(text, () => setTimeout(() => response.destroy(), 50));
}

const unbilledOf = async (channel: string): Promise<number | undefined> =>
  (await sumUsage(shared.gateway.app.database.kysely, {}, ['channel'])).find(
    ({ names: [name] }) => name === channel,
  )?.unbilled_tokens;

describe.each(eachCall)('$name', ({ protocol, stream: streamed, name }) => {
  test('a failed attempt before the response', async () => {
    shared.upstream.answer = (_asked, response) => {
      if (streamed) stream(response, beginnings[protocol.name](false, usage(protocol)));
      else response.end(JSON.stringify(failedResponses[protocol.name](usage(protocol))));
    };
    const response = await ask(shared.gateway, protocol, streamed, modelOf(name));
    expect(response.status).toBe(200);
    const row = await rowOf(shared.gateway, response.id);
    expect(row).toMatchObject({
      outcome: 'completed',
      channel: `spare-${modelOf(name)}`,
      attempts: [{ class: 'started', usage: used }, { result: 'completed' }],
    });
    expect(row.attempts[1]).not.toHaveProperty('usage');
    // The client pays for the response it was given, at 0.001 and 0.002 USD, and for nothing else.
    const { input, output } = row.tokens;
    expect(nanoOf(row.cost)).toBe(BigInt(input) * 1_000_000n + BigInt(output) * 2_000_000n);
    expect(await unbilledOf(`own-${modelOf(name)}`)).toBe(used.input + used.output);
  });
});

test.each(textProtocols)('$name: an attempt that broke after output', async (protocol) => {
  shared.upstream.answer = (_asked, response) =>
    stream(response, beginnings[protocol.name](true, usage(protocol)));
  const model = modelOf(`${protocol.name} streamed`);
  const before = (await unbilledOf(`own-${model}`)) ?? 0;
  const response = await ask(shared.gateway, protocol, true, model);
  expect(response.text).toMatch(protocol.errorFrame);
  expect(await rowOf(shared.gateway, response.id)).toMatchObject({
    outcome: 'failed',
    cost: null,
    tokens: { input: 0, output: 0 },
    attempts: [{ class: 'shown', usage: used }],
  });
  expect(await unbilledOf(`own-${model}`)).toBe(before + used.input + used.output);
});

test('the books are exact to the nano-USD', async () => {
  await assertBilledExactly(shared);
});
