import { expect, test, vi } from 'vitest';
import { ask, describeChannels, only, openGateway } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { GatewayError } from '#errors/index.ts';
import { openLog, scrape, valueOf } from './support.ts';

const [chat] = textProtocols;
if (chat === undefined) throw new Error('protocols are missing');

test('an unusable journal is reported once, not as a defect by every refused request', async () => {
  const gateway = await openGateway({});
  const append = vi.spyOn(gateway.app.journal, 'append');
  append.mockRejectedValue(new GatewayError('unavailable', { cause: new Error('disk full') }));
  expect((await ask(gateway, chat, false, 'no-such-model')).status).toBe(400);
  expect(gateway.errors).toEqual([]);
  append.mockRejectedValue(new TypeError('a defect'));
  expect((await ask(gateway, chat, false, 'no-such-model')).status).toBe(400);
  expect(gateway.errors).toEqual([expect.any(TypeError)]);
  append.mockRestore();
  // Whoever closes it counts errors.
  (gateway.errors as unknown[]).length = 0;
});

test('one line per finished exchange, with these members and no others', async () => {
  const { logger, lines } = openLog();
  const gateway = await openGateway({ logger: { request: logger.request } });
  const { id } = await ask(gateway, chat, true);
  const refused = await ask(gateway, chat, false, 'no-such-model');
  const [first, second, ...more] = await lines();
  expect(more).toEqual([]);
  expect(first).toEqual({
    level: 30,
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    requestId: id,
    keyId: expect.any(String),
    keyName: 'test',
    client: 'node',
    model: 'demo-chat',
    channel: 'sim',
    protocol: 'chat',
    operation: 'generate',
    stream: true,
    status: 200,
    outcome: 'completed',
    error: null,
    attempts: 1,
    retryCount: 0,
    bodyDigest: null,
    ttftMs: expect.any(Number),
    durationMs: expect.any(Number),
    tokens: {
      input: expect.any(Number),
      cacheRead: 0,
      cacheWrite: 0,
      cacheWrite1h: 0,
      output: expect.any(Number),
      reasoning: expect.any(Number),
    },
    msg: 'request',
  });
  expect(second).toMatchObject({
    requestId: refused.id,
    model: 'no-such-model',
    channel: null,
    status: 400,
    outcome: 'refused',
    error: 'model_not_available',
    attempts: 0,
  });
});

test('S-29 a model name cannot create a log line of its own', async () => {
  const { logger, lines } = openLog();
  const gateway = await openGateway({ logger: { request: logger.request } });
  const model = 'x\n{"level":60,"msg":"forged"}\n\u001b[31m\u2028\ud800';
  await ask(gateway, chat, false, model);
  expect(only(await lines())).toMatchObject({ model: expect.stringMatching(/^x\n/) });
});

test('an error of an observer affects no request', async () => {
  const thrown: unknown[] = [];
  const gateway = await openGateway({
    config: describeChannels([{ name: 'sim', models: ['demo-chat'] }]),
    logger: {
      request: () => {
        throw new Error('a defect');
      },
      error: (_message, error) => void thrown.push(error),
    },
  });
  expect((await ask(gateway, chat, true)).status).toBe(200);
  expect(thrown).toEqual([new Error('a defect')]);
  const labels = { outcome: 'completed' };
  expect(valueOf(await scrape(gateway.url), 'sluice_requests_total', labels)).toBe(1);
});
