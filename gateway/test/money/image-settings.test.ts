import { createImage } from 'simulator';
import { expect, onTestFinished, test } from 'vitest';
import { faultAt, generations, imageChannel, imageModel } from '../behaviour/image-requests.ts';
import { openGateway, rowOf, shareGateway } from '../behaviour/support.ts';
import { testKey } from '../support/gateway.ts';
import { startOwnUpstream } from '../support/own-upstream.ts';

/* What settings and a small balance change in the charge of pictures. */

const accounts = `
users: [{ email: tester@example.com, balance: 9 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey} }]
`;

test.each([
  ['zero', 200, '0', 'none'],
  ['error', 502, null, 'usage-missing'],
  // The tokens of a picture cannot be estimated.
  ['estimate', 502, null, 'usage-missing'],
])('billing.missing_usage: %s, and no usage: %i', async (missing, status, cost, said) => {
  const upstream = await startOwnUpstream();
  onTestFinished(() => upstream.close());
  const image = createImage({ type: 'png', width: 8, height: 8 }).toString('base64');
  upstream.answer = (_, response) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ data: [{ b64_json: image }] }));
  const gateway = await openGateway({
    config: `
billing: { missing_usage: ${missing} }
channels:
  - { name: own, provider: openai-compatible, base_url: "${upstream.url}", protocols: [images], models: [tokens] }
models:
  - { id: tokens, type: image, price: { input: 5, output: 10 } }
${accounts}`,
  });
  const response = await gateway.post(generations, { model: 'tokens', prompt: 'a' });
  expect(response.status).toBe(status);
  const id = response.headers.get('x-request-id') ?? '';
  const row = await rowOf(gateway, id);
  expect(Number(row.cost)).toBe(Number(cost));
  const { usage_source: source } = await gateway.app.database.kysely
    .selectFrom('usage')
    .select('usage_source')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const [attempt] = row.attempts;
  expect(status === 200 ? source : attempt?.result).toBe(said);
});

const balances = [
  ['0.05', 200, 50_000_000n],
  ['0.09', 200, 80_000_000n],
  ['0', 402, null],
] as const;
const nameOf = (balance: string) => `has-${balance.replace('.', '-')}`;
const secretOf = (balance: string) => `sk-${nameOf(balance)}-0123456789abcdefghijklmnopqrstuvwxyz`;
const shared = shareGateway({
  config: `
channels:
${imageChannel({ name: 'pictures', at: faultAt('gap=0') })}
models:
${imageModel({ id: 'pictures' })}
users:
${balances.map(([has]) => `  - { email: ${nameOf(has)}@example.com, balance: ${has} }`).join('\n')}
keys:
${balances.map(([has]) => `  - { name: ${nameOf(has)}, user: ${nameOf(has)}@example.com, secret: ${secretOf(has)} }`).join('\n')}
`,
});

test.each(balances)('with %s USD left: %i', async (balance, status, held) => {
  const { gateway } = shared;
  const body = { model: 'pictures', prompt: 'a house', size: '256x256' };
  const response = await gateway.post(generations, body, {
    authorization: `Bearer ${secretOf(balance)}`,
  });
  expect(response.status).toBe(status);
  const id = response.headers.get('x-request-id') ?? '';
  await rowOf(gateway, id);
  const row = await gateway.app.database.kysely
    .selectFrom('usage')
    .select(['held', 'cost'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  expect(row).toEqual({ held, cost: status === 200 ? 40_000_000n : null });
});
