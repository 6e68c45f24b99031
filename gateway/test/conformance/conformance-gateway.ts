import { afterAll, beforeAll, expect } from 'vitest';
import { startTestGateway, testKey, type TestGateway } from '../support/gateway.ts';

export { testKey };

/** Long enough to be streamed in a dozen pieces. */
export const question =
  'Please tell me in a few words how a sluice keeps the water of a canal in its place.';

/** Appears in every error text of the simulator. */
export const canary = 'CANARY';

/** Models that misbehave: each is served by as many channels of its own as it has upstream names. */
const misbehaving: Readonly<Record<string, readonly string[]>> = {
  limited: [
    'demo-chat+fault(status=429;retry-after=7)',
    'demo-chat+fault(status=429;retry-after=9)',
  ],
  recovering: ['demo-chat+fault(status=429;retry-after=1;times=1)'],
  spared: ['demo-chat+fault(status=503)', 'demo-chat'],
  refusing: ['demo-chat+fault(status=400)'],
  lost: ['missing-model'],
  garbled: ['demo-chat+fault(garbage)'],
  breaking: ['demo-chat+fault(error-at=7)'],
  // Each is left alone for a while once it has said so.
  overloading: Array.from({ length: 4 }, () => 'demo-chat+fault(error-at=7;status=529)'),
  cutting: ['demo-chat+fault(cut-at=7)'],
  closing: ['demo-chat+fault(close-at=7)'],
  slow: ['demo-chat+fault(gap=50;events=200)'],
};

function config(): string {
  const protocols = ['chat', 'responses', 'messages', 'generate-content'];
  const common = { provider: 'simulator', base_url: 'SIMULATOR', protocols };
  const good = {
    ...common,
    name: 'good',
    models: [
      'demo-chat',
      'demo-reasoning',
      { name: 'fast', upstream: 'demo-chat' },
      { name: 'thinker', upstream: 'demo-reasoning' },
    ],
  };
  const bad = Object.entries(misbehaving).flatMap(([name, upstreams]) =>
    upstreams.map((upstream, index) => ({
      ...common,
      name: `${name}-${index}`,
      priority: -index,
      models: [{ name, upstream }],
    })),
  );
  const models = ['fast', 'thinker', ...Object.keys(misbehaving)].map((id) => ({
    id,
    type: 'chat',
    max_output_tokens: 9000,
    price: { input: 1, output: 2 },
  }));
  // JSON is YAML.
  return `channels: ${JSON.stringify([good, ...bad])}\nmodels: ${JSON.stringify(models)}`;
}

/** One gateway for the tests of a file. Read `current()` inside tests only. */
export function useGateway(): () => TestGateway {
  let gateway: TestGateway | undefined;
  beforeAll(async () => {
    gateway = await startTestGateway({ config: config() });
  });
  afterAll(() => gateway?.close());
  return function current() {
    if (gateway === undefined) throw new Error('the gateway has not been started');
    return gateway;
  };
}

/** The error that a promise ends in. */
export async function failureOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  return expect.fail('expected an error');
}

/** Reads a stream to its end, or to its error. */
export async function readAll<Item>(stream: AsyncIterable<Item>): Promise<{
  readonly items: readonly Item[];
  readonly error: Error | null;
}> {
  const items: Item[] = [];
  try {
    for await (const item of stream) items.push(item);
  } catch (error) {
    return { items, error: error as Error };
  }
  return { items, error: null };
}

/** The newest request that the simulator received. */
export function received(gateway: TestGateway) {
  const request = gateway.simulator.requests().at(-1);
  if (request === undefined) throw new Error('the simulator has received nothing');
  return request;
}

/** Everything of an error that an SDK shows; must be free of upstream text. */
export function textOf(error: Error): string {
  return `${error.message} ${JSON.stringify(error)} ${JSON.stringify(error.cause)}`;
}

/** A red pixel. */
export const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
