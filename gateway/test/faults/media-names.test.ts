import { expect, onTestFinished, test } from 'vitest';
import { until } from '../behaviour/support.ts';
import { cannotFakeResolver, startFakeResolver } from '../support/fake-resolver.ts';
import { startGatewayPlace } from '../support/gateway-place.ts';
import { answerWith, startOwnUpstream, usageAt } from '../support/own-upstream.ts';
import { secret } from '../workers/workplace.ts';

const otherKey = 'sk-other-0123456789abcdefghijklmnopqrstuv';
const names = Array.from({ length: 16 }, (_, at) => `n${at}.silent.test`);

test.skipIf(cannotFakeResolver !== null)(
  `a channel is resolved while names of pictures never are ${cannotFakeResolver ?? ''}`,
  { timeout: 60_000 },
  async () => {
    const resolver = await startFakeResolver();
    resolver.set('up.upstream.test', ['127.0.0.1']);
    for (const name of names) resolver.set(name, 'silence');
    const upstream = await startOwnUpstream();
    onTestFinished(() => upstream.close());
    upstream.answer = (request, response) =>
      answerWith(usageAt(request.path, 3, 9))(request, response);
    const { url } = await startGatewayPlace({
      within: resolver.within,
      config: `
channels:
  - name: up
    provider: gemini
    base_url: "http://up.upstream.test:${new URL(upstream.url).port}"
    api_key: k
    models: [m]
models: [{ id: m, type: chat, price: { input: 1, output: 1 }, capabilities: [vision] }]
users: [{ email: tester@example.com, balance: 100 }, { email: other@example.com, balance: 100 }]
keys:
  - { name: test, user: tester@example.com, secret: ${secret} }
  - { name: other, user: other@example.com, secret: ${otherKey} }
`,
    });
    const ask = (key: string, content: unknown, signal: AbortSignal | null = null) =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
        signal,
      });
    const leaving = new AbortController();
    let ended = 0;
    const waiting = names.map(async (name) => {
      const image = { type: 'image_url', image_url: { url: `https://${name}/a.png` } };
      const text = { type: 'text', text: 'Look.' };
      await ask(secret, [text, image], leaving.signal).catch(() => {});
      ended += 1;
    });
    await until(() => names.some((name) => resolver.asked(name) > 0), 'names are asked for');
    const other = await ask(otherKey, 'Hello.');
    expect([other.status, await other.text(), ended]).toEqual([200, expect.any(String), 0]);
    leaving.abort();
    await Promise.all(waiting);
  },
);
