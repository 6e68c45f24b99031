import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { parentPort } from 'node:worker_threads';

/* A host of pictures that are about as large as they may be. */

const pem = (name: string) =>
  readFileSync(new URL(`../http/fixtures/localhost-${name}.pem`, import.meta.url));
const image = Buffer.alloc(19 * 2 ** 20, 'a');

const server = createServer({ cert: pem('cert'), key: pem('key') }, (request, response) => {
  request.on('error', () => {});
  response.on('error', () => {});
  response.writeHead(200, { 'content-type': 'image/png', 'content-length': image.length });
  response.end(image);
});
server.on('clientError', (_error, socket) => socket.destroy());
server.listen(0, '127.0.0.1', () => {
  parentPort?.postMessage((server.address() as AddressInfo).port);
});
