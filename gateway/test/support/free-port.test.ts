import { once } from 'node:events';
import { createServer } from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { freePort } from './free-port.ts';

const module = JSON.stringify(new URL('free-port.ts', import.meta.url).href);

/** Of a thread, which begins with the same port as this one: both derive it from the process. */
async function portOfThread(): Promise<number> {
  const worker = new Worker(
    `import(${module}).then(({ freePort }) => freePort()).then((port) => {
      require('node:worker_threads').parentPort.postMessage(port);
      setInterval(() => {}, 1_000);
    });`,
    { eval: true },
  );
  const [port] = (await once(worker, 'message')) as [number];
  await worker.terminate();
  return port;
}

test('a port is given to one test only, and its server can listen, end and listen again', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, () => freePort()));
  ports.push(await portOfThread());
  expect(new Set(ports).size).toBe(ports.length);
  for (const port of [ports[0], ports[0], ports.at(-1)]) {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    await new Promise((resolve) => server.close(resolve));
  }
});
