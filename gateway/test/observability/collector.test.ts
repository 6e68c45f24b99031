import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { openTracing, type LogFields } from '#observability/index.ts';
import { ask, describeChannels, openGateway } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { freePort } from '../support/free-port.ts';
import { testKey } from '../support/gateway.ts';
import { spansOf, startCollector } from './collector.ts';

const chat = textProtocols[0]!;

const json = { EXPORTER_OTLP_PROTOCOL: 'http/json' };

/** What an operator sets; the SDK reads it from the process. */
function setVariables(url: string, variables: Readonly<Record<string, string>>): void {
  const all = { EXPORTER_OTLP_ENDPOINT: url, BSP_SCHEDULE_DELAY: '10', ...variables };
  for (const [name, value] of Object.entries(all)) vi.stubEnv(`OTEL_${name}`, value);
}
afterEach(() => {
  vi.unstubAllEnvs();
});

/** Tracing to this address as a gateway opens it, and the lines that it logs. */
async function openTraces(url: string, variables: Readonly<Record<string, string>> = {}) {
  setVariables(url, variables);
  const lines: string[] = [];
  const write = (message: string, { detail = '' }: LogFields = {}): void =>
    void lines.push(`${message}: ${detail}`);
  const { tracer, close } = await openTracing({ info: write, warn: write });
  onTestFinished(close);
  return { lines, close, writeSpan: () => tracer?.startSpan('chat demo-chat').end() };
}

test('spans arrive with the names of key and team, and as the variables say', async () => {
  const collector = await startCollector();
  setVariables(`${collector.url}/prefix/`, {
    ...json,
    EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc,x-tenant=acme',
    SERVICE_NAME: 'models',
    RESOURCE_ATTRIBUTES: 'deployment.environment.name=production',
  });
  const gateway = await openGateway({
    config: `${describeChannels([{ name: 'sim', models: ['demo-chat'] }])}
users: [{ email: tester@example.com }]
teams: [{ name: research, balance: 100, members: [{ user: tester@example.com }] }]
keys: [{ name: ci, user: tester@example.com, team: research, secret: ${testKey} }]
`,
  });
  const { id } = await ask(gateway, chat, true);
  await expect.poll(() => spansOf(collector)).toHaveLength(2);
  const [root, attempt] = spansOf(collector).toSorted((a, b) => a.kind - b.kind);
  expect(root).toMatchObject({
    name: 'chat demo-chat',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'demo-chat',
      'gen_ai.provider.name': 'simulator',
      'gen_ai.usage.output_tokens': expect.anything(),
      'sluice.request.id': id,
      'sluice.key.name': 'ci',
      'sluice.team.name': 'research',
      'sluice.team.id': expect.stringMatching(/^team_/),
    },
    resource: { 'service.name': 'models', 'deployment.environment.name': 'production' },
  });
  expect(attempt).toMatchObject({
    name: 'chat demo-chat',
    traceId: root?.traceId,
    parentSpanId: root?.spanId,
    attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'simulator' },
  });
  const [first] = collector.exports;
  expect(first).toMatchObject({
    path: '/prefix/v1/traces',
    headers: {
      authorization: 'Bearer abc',
      'x-tenant': 'acme',
      'content-type': 'application/json',
    },
  });
  expect(first?.body.toString()).not.toContain(testKey);
});

test('with the address alone they arrive as protobuf of the service sluice', async () => {
  const collector = await startCollector();
  const { lines, close, writeSpan } = await openTraces(collector.url);
  writeSpan();
  await close();
  const [{ headers, body } = { headers: {}, body: Buffer.of() }] = collector.exports;
  expect(headers['content-type']).toBe('application/x-protobuf');
  for (const text of ['service.name', 'sluice', 'chat demo-chat']) {
    expect([text, body.includes(text)]).toEqual([text, true]);
  }
  expect(lines).toEqual([]);
});

test.each([
  ['there is no address', { EXPORTER_OTLP_ENDPOINT: '' }, []],
  ['no spans are sampled', { TRACES_SAMPLER: 'always_off' }, []],
  ['the SDK is disabled', { SDK_DISABLED: 'true' }, []],
  ['there is no exporter', { TRACES_EXPORTER: 'none' }, []],
  [
    'the protocol is not spoken',
    { EXPORTER_OTLP_PROTOCOL: 'grpc' },
    [
      'traces are off: OTEL_EXPORTER_OTLP_PROTOCOL is grpc: only http/protobuf and http/json are spoken',
    ],
  ],
])('nothing is sent if %s', async (_what, variables, said) => {
  const collector = await startCollector();
  const { lines, close, writeSpan } = await openTraces(collector.url, variables);
  writeSpan();
  await close();
  expect(collector.exports).toEqual([]);
  expect(lines).toEqual(said);
});

test('a variable that cannot be used is reported, and spans arrive', async () => {
  const collector = await startCollector();
  const odd = { TRACES_SAMPLER: 'sometimes' };
  const { lines, close, writeSpan } = await openTraces(collector.url, odd);
  writeSpan();
  await close();
  expect(collector.exports).toHaveLength(1);
  expect(lines).toEqual([
    expect.stringContaining('a variable of OpenTelemetry is not usable: OTEL_TRACES_SAMPLER'),
  ]);
});

test.each([
  ['is down', async () => `http://127.0.0.1:${await freePort()}`, 'ECONNREFUSED'],
  ['answers 500', async () => (await startCollector(500)).url, 'Internal Server Error'],
  ['never answers', async () => (await startCollector(null)).url, 'timed out'],
])('a collector that %s is reported once', async (_what, start, reason) => {
  const short = { EXPORTER_OTLP_TIMEOUT: '100', BSP_MAX_EXPORT_BATCH_SIZE: '1' };
  const { lines, close, writeSpan } = await openTraces(await start(), short);
  for (let turn = 0; turn < 5; turn += 1) writeSpan();
  await close();
  expect(lines).toEqual([expect.stringMatching(`^the collector takes no spans: .*${reason}`)]);
});

test('a collector that hangs changes no response, and spans beyond the queue are dropped', async () => {
  const collector = await startCollector(null);
  setVariables(collector.url, {
    ...json,
    BSP_MAX_QUEUE_SIZE: '8',
    BSP_MAX_EXPORT_BATCH_SIZE: '4',
    EXPORTER_OTLP_TIMEOUT: '1000',
  });
  const gateway = await openGateway();
  await ask(gateway, chat, false);
  // From here on it holds one batch back.
  await expect.poll(() => collector.exports.length).toBe(1);
  for (let turn = 0; turn < 20; turn += 1) {
    const { status, text } = await ask(gateway, chat, false);
    expect([status, text]).toEqual([200, expect.stringContaining('"usage"')]);
  }
  await gateway.close();
  expect(spansOf(collector).length).toBeLessThanOrEqual(4 + 8);
});
