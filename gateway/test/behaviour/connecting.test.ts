import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import {
  ask,
  attemptsOf,
  describeChannels,
  openGateway,
  openTcpServer,
  rowOf,
  sendRaw,
} from './support.ts';
import { cannotLosePackets, losePackets } from '../support/packet-loss.ts';
import { textProtocols } from './text-protocols.ts';

const [chat] = textProtocols;

/** A channel that cannot be reached, and one that can. */
const twoChannels = (at: string) =>
  describeChannels([
    {
      name: 'bad',
      at,
      models: ['demo-chat'],
      more: ['priority: 1', 'timeouts: { connect: 300ms }'],
    },
    { name: 'good', models: ['demo-chat'] },
  ]);

test('R-02 R-03 a handshake that never ends fails after the connect time-out', async () => {
  // Accepts the connection and stays silent, so that TLS waits forever; a lost SYN ends by the same clock.
  const silent = await openTcpServer(() => {});
  // Only the channel's own time-out can end it within the test.
  const config = `${twoChannels(silent.replace('http:', 'https:'))}\ntimeouts: { connect: 10m }\n`;
  const gateway = await openGateway({ config });
  const response = await ask(gateway, chat!, true);
  expect(response.status).toBe(200);
  expect(attemptsOf(await rowOf(gateway, response.id))).toEqual([
    { channel: 'bad', class: 'not-sent', status: null, result: 'connect-timeout' },
    { channel: 'good', class: 'shown', status: 200, result: 'completed' },
  ]);
});

test.skipIf(cannotLosePackets !== null)(
  `R-02 a lost SYN costs the client no more than the connect time-out ${cannotLosePackets ?? ''}`,
  async () => {
    const hole = await openTcpServer(() => {});
    losePackets(Number(new URL(hole).port));
    const gateway = await openGateway({
      config: describeChannels([
        { name: 'bad', at: hole, models: ['demo-chat'], more: ['priority: 1'] },
        { name: 'good', models: ['demo-chat', 'm -> demo-chat'] },
      ]),
    });
    // The slow start of a process's first request does not count.
    expect((await ask(gateway, chat!, false, 'm')).status).toBe(200);
    const response = await ask(gateway, chat!, false);
    expect(response.status).toBe(200);
    // The system itself tries for two minutes, and calls its end otherwise.
    expect(attemptsOf(await rowOf(gateway, response.id))).toEqual([
      { channel: 'bad', class: 'not-sent', status: null, result: 'connect-timeout' },
      { channel: 'good', class: 'shown', status: 200, result: 'completed' },
    ]);
  },
);

/** Key and certificate: self-signed, or of an unknown authority. */
function makeCertificate(folder: string, issuer: 'itself' | 'an authority'): [string, string] {
  const make = (name: string, more: readonly string[]): [string, string] => {
    const files: [string, string] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)];
    execFileSync(
      'openssl',
      `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=${name}`
        .split(' ')
        .concat('-keyout', files[0], '-out', files[1], more),
      { stdio: 'ignore' },
    );
    return files;
  };
  if (issuer === 'itself') return make('localhost', []);
  const [key, certificate] = make('authority', []);
  return make('localhost', ['-CA', certificate, '-CAkey', key]);
}

test.each(['itself', 'an authority'] as const)(
  'R-03 an upstream with a certificate that only %s vouches for receives no byte and no second attempt',
  async (issuer) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-tls-'));
    const [key, cert] = makeCertificate(folder, issuer);
    let requests = 0;
    const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, () => {
      requests += 1;
    });
    let connections = 0;
    server.on('connection', () => void (connections += 1));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(async () => {
      rmSync(folder, { recursive: true, force: true });
      await new Promise<void>((resolve) => server.close(() => resolve()));
    });
    const { port } = server.address() as AddressInfo;
    const gateway = await openGateway({ config: twoChannels(`https://127.0.0.1:${port}`) });
    const response = await ask(gateway, chat!, false);
    expect(response.status).toBe(200);
    expect(attemptsOf(await rowOf(gateway, response.id))).toEqual([
      { channel: 'bad', class: 'not-sent', status: null, result: 'tls' },
      { channel: 'good', class: 'shown', status: 200, result: 'completed' },
    ]);
    expect({ requests, connections }).toEqual({ requests: 0, connections: 1 });
  },
);

test('R-01 an unroutable address is a failed connection', async () => {
  const gateway = await openGateway({ config: twoChannels('http://255.255.255.255') });
  const response = await ask(gateway, chat!, false);
  expect(response.status).toBe(200);
  expect(attemptsOf(await rowOf(gateway, response.id))).toMatchObject([
    { channel: 'bad', class: 'not-sent', status: null, result: 'connect' },
    { channel: 'good', result: 'completed' },
  ]);
});

/** How long the connection really idles: with the tests that may take long, longer than a load balancer's minute. */
const idleMs = process.env['SLUICE_FAULT_LOOPS'] === undefined ? 100 : 61_000;

test(
  `R-39 an idle connection is promised for more than a load balancer’s minute, and reused after ${idleMs} ms`,
  { timeout: 20_000 + idleMs },
  async () => {
    const gateway = await openGateway();
    const client = await sendRaw(gateway.url, '');
    const answers = () => client.received().match(/HTTP\/1\.1 200 OK\r\n/g)?.length ?? 0;
    const get = () => client.socket.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n');
    get();
    await expect.poll(answers).toBe(1);
    const promised = /^keep-alive: timeout=(\d+)\b/im.exec(client.received())?.[1];
    expect(Number(promised)).toBeGreaterThan(60);
    await wait(idleMs);
    get();
    await expect.poll(answers).toBe(2);
  },
);
