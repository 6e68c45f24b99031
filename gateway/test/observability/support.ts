import { ok } from 'node:assert/strict';
import { Writable } from 'node:stream';
import { createLogger, type Logger } from '#observability/index.ts';
import type { TextProtocol } from '../behaviour/text-protocols.ts';
import { testKey, type TestGateway } from '../support/gateway.ts';
import { onTestFinished } from 'vitest';

export async function scrape(url: string): Promise<string> {
  const response = await fetch(`${url}/metrics`);
  ok(response.status === 200, `/metrics answered ${response.status}`);
  return response.text();
}

/** The value of the one series that has these labels; null when there is none. */
export function valueOf(
  metrics: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | null {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const found = metrics
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => wanted.every((label) => line.includes(label)));
  ok(found.length <= 1, `several series: ${found.join('\n')}`);
  return found[0] === undefined ? null : Number(found[0].slice(found[0].lastIndexOf(' ')));
}

/** A stream that has begun. Gives what leaves it. */
export async function openStream(
  gateway: TestGateway,
  protocol: TextProtocol,
): Promise<() => void> {
  const client = new AbortController();
  const response = await fetch(gateway.url + protocol.path('demo-chat', true), {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(protocol.body('demo-chat', true)),
    signal: client.signal,
  });
  await response.body?.getReader().read();
  return () => client.abort();
}

/** A log that is kept until the end of the test, for the lines of its requests in their order. */
export function openLog(): {
  readonly logger: Logger;
  lines(): Promise<Record<string, unknown>[]>;
} {
  let text = '';
  const logger = createLogger(
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        text += chunk.toString();
        done();
      },
    }),
  );
  onTestFinished(() => logger.close());
  return {
    logger,
    async lines() {
      await new Promise((resolve) => setTimeout(resolve, 60));
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ msg }) => msg === 'request');
    },
  };
}

/** One channel of the simulator with its model of vectors. */
export const oneOfVectors = `
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, models: [demo-embedding] }
models:
  - { id: demo-embedding, type: embedding, context_window: 8192, price: { input: 1 } }
`;
