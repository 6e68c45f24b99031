import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { describeChannels, openGateway } from '../behaviour/support.ts';
import { testKey } from '../support/gateway.ts';
import { openLog } from './support.ts';

const messages = [{ role: 'user' as const, content: 'hello' }];

/** Each fails once, whatever it is asked. */
const sdks: Readonly<Record<string, (url: string) => Promise<unknown>>> = {
  chat: (url) =>
    new OpenAI({ apiKey: testKey, baseURL: `${url}/v1`, maxRetries: 2 }).chat.completions.create({
      model: 'chat',
      messages,
    }),
  messages: (url) =>
    new Anthropic({ apiKey: testKey, baseURL: url, maxRetries: 2 }).messages
      .stream({ model: 'messages', max_tokens: 100, messages })
      .finalMessage(),
};

test('B-20 a retry of an SDK is a request of its own, linked to the first in the log', async () => {
  const { logger, lines } = openLog();
  const gateway = await openGateway({
    config: describeChannels(
      Object.keys(sdks).map((name) => ({
        name,
        models: [`${name} -> demo-chat+fault(status=500;times=1;id=${name})`],
      })),
    ),
    logger: { request: logger.request },
  });
  await Promise.all(Object.values(sdks).map((send) => send(gateway.url)));
  const written = await lines();
  const rows = await gateway.usage();
  const digests = Object.keys(sdks).map((name) => {
    const tries = written.filter(({ model }) => model === name);
    expect(tries).toMatchObject([
      { outcome: 'failed', retryCount: 0, bodyDigest: expect.stringMatching(/^[\w-]{16}$/) },
      { outcome: 'completed', retryCount: 1, bodyDigest: tries[0]?.['bodyDigest'] },
    ]);
    // A row and a charge for each: nothing for the failure, the response once.
    const [answered, failed] = tries
      .map(({ requestId }) => rows.find(({ id }) => id === requestId))
      .toReversed();
    expect([failed?.outcome, failed?.cost]).toEqual(['failed', null]);
    expect(answered?.outcome).toBe('completed');
    expect(answered?.cost).toMatch(/^[\d.]*[1-9]/);
    return tries[0]?.['bodyDigest'];
  });
  expect(new Set(digests).size).toBe(digests.length);
  expect(rows).toHaveLength(4);
});
