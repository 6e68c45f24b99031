import { expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { attemptsOf, rowOf, shareGateway } from './support.ts';

const channel = (name: string, fault: string): string =>
  `  - { name: ${name}, provider: simulator, base_url: "SIMULATOR/fault(${fault})", protocols: [images, generate-content], models: [{ name: ${name}, upstream: demo-image }] }`;
const model = (id: string): string =>
  `  - { id: ${id}, type: image, capabilities: [streaming], price: { image_tiers: [{ name: 1K, max_pixels: 2610000, price: 0.04 }] } }`;

const shared = shareGateway({
  config: `
timeouts: { stream_idle: 500ms, image_first_byte: 4s, keepalive_comment: 200ms }
channels:
${channel('slow', 'stall-at=1;stall-ms=2500')}
${channel('silent', 'stall-at=1')}
${channel('late', 'first-delay=2500')}
models:
${['slow', 'silent', 'late'].map(model).join('\n')}
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey} }]
`,
});

const asking = {
  images: (of: string) => ({
    path: '/v1/images/generations',
    body: { model: of, prompt: 'A cat', size: '256x256', stream: true, partial_images: 2 },
  }),
  contents: (of: string) => ({
    path: `/v1beta/models/${of}:streamGenerateContent?alt=sse`,
    body: {
      contents: [{ parts: [{ text: 'A cat' }] }],
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'] },
    },
  }),
} as const;

async function send(client: keyof typeof asking, of: string) {
  const { gateway } = shared;
  const { path, body } = asking[client](of);
  const response = await gateway.post(path, body);
  const text = await response.text();
  const row = await rowOf(gateway, response.headers.get('x-request-id') ?? '');
  return { status: response.status, text, row };
}

/** A comment of images; generate-content has none and sends a blank line. */
const keptAlive = { images: /: keep-alive\n\n/, contents: /\n\n\n/ };

test.each(['images', 'contents'] as const)(
  'A picture in a stream of %s may take longer than stream_idle, and the client is kept waiting',
  async (client) => {
    const { status, text, row } = await send(client, 'slow');
    expect(status).toBe(200);
    expect(text).toMatch(keptAlive[client]);
    expect(row).toMatchObject({ outcome: 'completed', cost: '0.04' });
  },
);

test.each(['images', 'contents'] as const)(
  'A stream of %s that stays silent for image_first_byte breaks, and is not charged',
  async (client) => {
    const started = performance.now();
    const { status, text, row } = await send(client, 'silent');
    expect(performance.now() - started).toBeGreaterThan(3500);
    expect(status).toBe(200);
    expect(text).toContain('"error"');
    expect(text).not.toContain('[DONE]');
    expect(row).toMatchObject({ outcome: 'failed', cost: null });
    expect(attemptsOf(row)).toMatchObject([{ result: 'idle-timeout' }]);
  },
  20_000,
);

test('A whole response whose body begins long after its head is waited for, too', async () => {
  const { gateway } = shared;
  const response = await gateway.post('/v1/images/generations', {
    model: 'late',
    prompt: 'A cat',
    size: '256x256',
  });
  expect(response.status).toBe(200);
  await response.text();
});
