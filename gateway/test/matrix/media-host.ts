import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buildConnector } from 'undici';
import { afterAll, beforeAll } from 'vitest';
import type { TestGatewayOptions } from '../support/gateway.ts';
import { png } from './features/feature.ts';

const pem = (name: string) =>
  readFileSync(new URL(`../http/fixtures/localhost-${name}.pem`, import.meta.url));

/** A host on this machine with one picture, for all tests of a file, that the gateway believes to be in public. */
export function shareMediaHost(): {
  readonly picture: string;
  readonly mediaFetch: NonNullable<TestGatewayOptions['mediaFetch']>;
  /** How often the picture was fetched. */
  readonly fetched: () => number;
} {
  let count = 0;
  const server = createServer({ cert: pem('cert'), key: pem('key') }, (_, response) => {
    count += 1;
    response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from(png, 'base64'));
  });
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const dial = buildConnector({ rejectUnauthorized: false, allowH2: false });
  return {
    picture: 'https://pictures.example/a.png',
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
