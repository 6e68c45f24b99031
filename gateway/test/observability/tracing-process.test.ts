import { expect, test } from 'vitest';
import { startGatewayPlace } from '../support/gateway-place.ts';
import { askChat } from '../workers/workplace.ts';
import { startCollector } from './collector.ts';

const preload = new URL('./tracing.preload.mjs', import.meta.url).href;

/** What the preloaded module reports of a gateway that answered one request and was stopped. */
async function runGateway(environment: Record<string, string>) {
  const { gateway, url } = await startGatewayPlace({
    drainTimeout: '1s',
    environment: { ...environment, NODE_OPTIONS: `--import ${preload}` },
  });
  expect((await askChat(url)).status).toBe(200);
  gateway.child.kill('SIGINT');
  expect(await gateway.exit).toBe(0);
  const told = (what: string): unknown[] =>
    gateway
      .stderr()
      .split('\n')
      .filter((line) => line.startsWith(`${what} `))
      .map((line) => JSON.parse(line.slice(what.length + 1)) as unknown);
  return { loaded: [...new Set(told('LOADED'))], spans: told('SPAN') };
}

test('an SDK loaded before the gateway receives the spans', { timeout: 30_000 }, async () => {
  const { spans } = await runGateway({ TRACE_SPANS: '1' });
  expect(spans).toMatchObject([
    { name: 'chat demo-chat', kind: 'CLIENT', 'gen_ai.provider.name': 'simulator' },
    {
      name: 'chat demo-chat',
      kind: 'SERVER',
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'demo-chat',
      'gen_ai.usage.output_tokens': expect.any(Number),
    },
  ]);
});

test('without one only the interface is loaded', { timeout: 30_000 }, async () => {
  expect(await runGateway({})).toEqual({ loaded: ['@opentelemetry/api'], spans: [] });
});

test('a collector that hangs does not hold up the end', { timeout: 30_000 }, async () => {
  const collector = await startCollector(null);
  const { loaded } = await runGateway({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_TIMEOUT: '600000',
  });
  expect(loaded).toContain('@opentelemetry/sdk-trace-base');
  expect(collector.exports).toHaveLength(1);
});
