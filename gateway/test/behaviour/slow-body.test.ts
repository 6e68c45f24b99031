import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startOwnUpstream, type OwnUpstream } from '../support/own-upstream.ts';
import { until } from './support.ts';

const path = '/v1/embeddings';
const mebibyte = 2 ** 20;
const secretOf = (name: string): string => `sk-${name}-${'0123456789'.repeat(4)}`;

let gateway: TestGateway;
let upstream: OwnUpstream;
const sockets: Socket[] = [];
beforeAll(async () => {
  upstream = await startOwnUpstream();
  gateway = await startTestGateway({
    config: `
limits: { body_memory: 128MiB }
channels:
  - { name: own, provider: simulator, base_url: "${upstream.url}", protocols: [embeddings], models: [own] }
models:
  - { id: own, type: embedding, price: { input: 1 } }
users: [{ email: ada@example.com, balance: 10 }, { email: eve@example.com, balance: 10 }]
keys:
  - { name: ada, user: ada@example.com, secret: ${secretOf('ada')} }
  - { name: eve, user: eve@example.com, secret: ${secretOf('eve')} }
`,
  });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await gateway?.close();
  await upstream?.close();
});

/** The beginning of a body that takes all shared memory and hardly arrives. */
function beginSlowly(): () => string {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  sockets.push(socket);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.on('error', () => {});
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secretOf('eve')}\r\ncontent-type: application/json\r\ncontent-length: ${32 * mebibyte}\r\n\r\n{"input":"`,
  );
  return () => text;
}

async function memoryInUse(): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return Number(/^sluice_body_memory_bytes (\d+)/m.exec(text)?.[1]);
}

test('a slow body yields to another key’s response, which the upstream has made', async () => {
  const answer = JSON.stringify({
    object: 'list',
    model: 'own',
    data: [{ object: 'embedding', index: 0, embedding: Array(800_000).fill(0.125) }],
    usage: { prompt_tokens: 1, total_tokens: 1 },
  });
  upstream.answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(answer);
  };
  const refused = beginSlowly();
  await until(async () => (await memoryInUse()) >= 96 * mebibyte, 'the slow body has its memory');
  const response = await gateway.post(path, JSON.stringify({ model: 'own', input: 'x' }), {
    authorization: `Bearer ${secretOf('ada')}`,
  });
  expect([response.status, (await response.text()).length]).toEqual([200, answer.length]);
  await until(() => refused().startsWith('HTTP/1.1 503'), 'the slow body is refused');
});
