import { trace } from '@opentelemetry/api';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, describeChannels, shareGateway } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { createLogger } from '#observability/index.ts';
import { testKey } from '../support/gateway.ts';
import { MemoryTracerProvider } from './memory-tracer-provider.ts';
import { scrape } from './support.ts';

/** The simulator puts it into every failure's text; the client puts it wherever it can. */
const canary = 'CANARY';

const faults = ['', 'status=400', 'status=401', 'status=429', 'html', 'error-first', 'error-at=6'];

let log = '';
const logger = createLogger(
  new Writable({
    write(chunk: Buffer, _encoding, done) {
      log += chunk.toString();
      done();
    },
  }),
);
const provider = new MemoryTracerProvider();
beforeAll(() => {
  trace.setGlobalTracerProvider(provider);
});
afterAll(() => {
  trace.disable();
  return logger.close();
});

const shared = shareGateway({
  logger: { info: logger.info, warn: logger.warn, request: logger.request },
  config: describeChannels(
    faults.map((fault, index) => ({
      name: `c${index}`,
      at: fault === '' ? '' : `/fault(${fault})`,
      models: [`m${index} -> demo-chat`],
      more: [`api_key: sk-upstream-${canary}`, `headers: { x-secret: ${canary} }`],
    })),
  ),
});

test('S-28 no secret, no prompt and no text of an upstream is in the log, the metrics or a span', async () => {
  const { gateway } = shared;
  const personal = {
    'user-agent': canary,
    cookie: canary,
    'x-forwarded-for': canary,
    baggage: `user=${canary}`,
    tracestate: `vendor=${canary}`,
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  };
  for (const protocol of textProtocols) {
    for (const stream of [false, true]) {
      for (let index = 0; index < faults.length; index += 1) {
        await ask(gateway, protocol, stream, `m${index}`, personal, `${canary} prompt`);
      }
    }
    const path = protocol.path('m0', false);
    await gateway.post(`${path}${path.includes('?') ? '&' : '?'}key=${canary}`, canary);
    await gateway.post(path, {}, { authorization: `Bearer sk-${canary}` });
  }
  const metrics = await scrape(gateway.url);
  await new Promise((resolve) => setTimeout(resolve, 60));
  const exchanges = textProtocols.length * 2 * faults.length;
  expect(log.split('\n').filter((line) => line.includes('"msg":"request"')).length).toBeGreaterThan(
    exchanges - 1,
  );
  expect(provider.spans.length).toBeGreaterThan(exchanges);
  for (const [where, text] of Object.entries({
    log,
    metrics,
    spans: JSON.stringify(provider.spans),
  })) {
    expect([where, text.includes(canary)]).toEqual([where, false]);
    expect([where, text.includes(testKey)]).toEqual([where, false]);
  }
  // The identity of a key or a user is no label either.
  expect(metrics).not.toMatch(/tester@|key_?id|"test"/i);
});
