import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '#errors/index.ts';
import { key, model, snapshotOf, startGateway } from './support.ts';

const catalogue = snapshotOf(['a', 'b', 'c', 'd', 'e'].map((id) => model(id)));
const snapshot = () => catalogue;

async function names<Item>(
  pages: AsyncIterable<Item>,
  nameOf: (item: Item) => string | undefined,
): Promise<(string | undefined)[]> {
  const found: (string | undefined)[] = [];
  for await (const item of pages) found.push(nameOf(item));
  return found;
}

describe('official SDKs read the model lists', () => {
  it('OpenAI', async () => {
    const { port } = await startGateway({ snapshot });
    const client = new OpenAI({ apiKey: key, baseURL: `http://127.0.0.1:${port}/v1` });
    expect(await names(client.models.list(), ({ id }) => id)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect((await client.models.retrieve('b')).created).toBe(1767323045);
  });

  it('Anthropic, page by page', async () => {
    const { port } = await startGateway({ snapshot });
    const client = new Anthropic({ apiKey: key, baseURL: `http://127.0.0.1:${port}` });
    const list = client.models.list({ limit: 2 });
    expect(await names(list, ({ id }) => id)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect((await client.models.retrieve('b')).display_name).toBe('B');
  });

  it.each(['v1beta', 'v1'])('Google under %s', async (apiVersion) => {
    const { port } = await startGateway({ snapshot });
    const baseUrl = `http://127.0.0.1:${port}`;
    const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl, apiVersion } });
    const list = await client.models.list({ config: { pageSize: apiVersion === 'v1' ? 100 : 2 } });
    const expected = ['a', 'b', 'c', 'd', 'e'].map((id) => `models/${id}`);
    expect(await names(list, ({ name }) => name)).toEqual(expected);
    expect((await client.models.get({ model: 'b' })).inputTokenLimit).toBe(1000);
  });
});

describe('official SDKs do not retry hopeless requests', () => {
  it.each(['insufficient_balance', 'team_daily_budget_exceeded', 'invalid_key'] as const)(
    '%s',
    async (name) => {
      const { port, exchanges } = await startGateway({
        run: () => Promise.reject(new GatewayError(name)),
      });
      const openai = new OpenAI({ apiKey: key, baseURL: `http://127.0.0.1:${port}/v1` });
      const anthropic = new Anthropic({ apiKey: key, baseURL: `http://127.0.0.1:${port}` });
      const { message, entry } = new GatewayError(name);
      const first = openai.chat.completions.create({ model: 'a', messages: [] });
      await expect(first).rejects.toMatchObject({ status: entry.status, code: entry.code });
      const second = anthropic.messages.create({ model: 'a', messages: [], max_tokens: 1 });
      await expect(second).rejects.toThrow(message);
      expect(exchanges).toHaveLength(2);
    },
  );
});
