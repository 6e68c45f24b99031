import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseConfig } from '#config/index.ts';
import { startTestGateway, type TestGateway } from '#test/support/gateway.ts';
import { config, password, secrets, startWithPeople } from './people.ts';
import { signIn } from './person.ts';

/* `console.listen`: the console at an address of its own. */

let gateway: TestGateway;
let consoleUrl: string;
beforeAll(async () => {
  gateway = await startWithPeople({ config: `console: { listen: '127.0.0.1:0' }\n${config}` });
  consoleUrl = gateway.app.consoleUrl ?? '';
});
afterAll(() => gateway.close());

const ask = async (url: string) =>
  await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secrets.member}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
  });

test('the address of the models has no console and no API of it', async () => {
  expect(consoleUrl).not.toBe(gateway.url);
  for (const path of ['/console', '/console/', '/admin/v1/auth/methods', '/admin/v1/session']) {
    expect([path, (await fetch(gateway.url + path)).status]).toEqual([path, 404]);
  }
  expect((await ask(gateway.url)).status).toBe(200);
});

test('the console is at its own address, with the models for its playground', async () => {
  expect((await fetch(`${consoleUrl}/console/`)).status).toBe(200);
  const person = await signIn(consoleUrl, 'member@example.com', password);
  const session = (await (await person.get('/session')).json()) as {
    readonly gateway: { readonly url: string };
  };
  expect(session.gateway.url).toBe(consoleUrl);
  expect((await ask(consoleUrl)).status).toBe(200);
});

test('an address that is taken is named by its setting', async () => {
  const taken = new URL(consoleUrl).port;
  await expect(
    startTestGateway({ config: `console: { listen: '127.0.0.1:${taken}' }\n${config}` }),
  ).rejects.toThrow(`console.listen: 127.0.0.1:${taken} is in use by another program`);
});

test('an address is a host with a port', () => {
  const listenOf = (text: string) =>
    parseConfig(`console: { listen: '${text}' }`, {
      file: 'sluice.yaml',
      environment: {},
      bundledModels: [],
    }).console.listen;
  expect(listenOf('127.0.0.1:8081')).toEqual({ host: '127.0.0.1', port: 8081 });
  expect(listenOf('console.internal:80')).toEqual({ host: 'console.internal', port: 80 });
  expect(listenOf('[::1]:8081')).toEqual({ host: '::1', port: 8081 });
  expect(listenOf('')).toBeNull();
  for (const wrong of [
    '8081',
    'localhost',
    '::1:8081',
    '[localhost]:1',
    'host:65536',
    'host:-1',
    ':1',
  ])
    expect(() => listenOf(wrong)).toThrow('console.listen: expected host:port');
});

test('a stop closes both addresses', async () => {
  const other = await startTestGateway({
    config: `console: { listen: '127.0.0.1:0' }\n${config}`,
  });
  const ports = [other.url, other.app.consoleUrl!].map((url) => Number(new URL(url).port));
  await other.close();
  for (const port of ports) {
    const socket = connect(port, '127.0.0.1');
    const outcome = await new Promise((resolve) => {
      socket.on('connect', () => resolve('open')).on('error', () => resolve('closed'));
    });
    socket.destroy();
    expect(outcome).toBe('closed');
  }
});
