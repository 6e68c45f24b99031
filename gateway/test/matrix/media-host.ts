import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buildConnector } from 'undici';
import { afterAll, beforeAll } from 'vitest';
import type { TestGatewayOptions } from '../support/gateway.ts';
import { pdf, png } from './features/feature.ts';

const pem = (name: string) =>
  readFileSync(new URL(`../http/fixtures/localhost-${name}.pem`, import.meta.url));

const kept: Readonly<Record<string, readonly [type: string, base64: string]>> = {
  '/a.png': ['image/png', png],
  '/a.pdf': ['application/pdf', pdf],
  '/a.html': ['text/html', pdf],
  '/a.wav': ['audio/wav', pdf],
};

/** A host on this machine with some media, for all tests of a file, that the gateway believes to be in public. */
export function shareMediaHost(): {
  readonly image: string;
  /** The address of what is kept there under a name. */
  readonly at: (name: string) => string;
  readonly mediaFetch: NonNullable<TestGatewayOptions['mediaFetch']>;
  /** How often anything was fetched. */
  readonly fetched: () => number;
} {
  let count = 0;
  const server = createServer({ cert: pem('cert'), key: pem('key') }, ({ url = '' }, response) => {
    count += 1;
    const [type, base64] = kept[url] ?? ['text/plain', ''];
    response.writeHead(200, { 'content-type': type }).end(Buffer.from(base64, 'base64'));
  });
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const dial = buildConnector({ rejectUnauthorized: false, allowH2: false });
  return {
    image: 'https://pictures.example/a.png',
    at: (name) => `https://papers.example/${name}`,
    mediaFetch: {
      resolve: async () => ['93.184.216.34'],
      connect: (target, callback) => {
        const port = String((server.address() as AddressInfo).port);
        dial({ ...target, hostname: '127.0.0.1', port }, callback);
      },
    },
    fetched: () => count,
  };
}
