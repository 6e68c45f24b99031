import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startTestGateway } from '../support/gateway.ts';
import { call, delay, key, open, raw, startGateway } from './support.ts';

const fixture = (name: string): string =>
  fileURLToPath(new URL(`./fixtures/localhost-${name}.pem`, import.meta.url));
const tls = { cert: fixture('cert'), key: fixture('key') };

function connectTls(port: number, alpn?: readonly string[]): TLSSocket {
  return connect({
    socket: open(port),
    servername: 'localhost',
    ca: readFileSync(tls.cert),
    ...(alpn && { ALPNProtocols: [...alpn] }),
  });
}

function exchange(port: number, bytes: string, halfClose: boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTls(port);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString();
    });
    socket.on('end', () => socket.end());
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
    socket.on('secureConnect', () => {
      if (halfClose) socket.end(bytes);
      else socket.write(bytes);
    });
  });
}

it('serves HTTPS from the configured files, with the same tuning', async () => {
  const gateway = await startGateway({ server: { tls } });
  const response = await exchange(
    gateway.port,
    'POST /responses HTTP/1.1\r\nhost: 127.0.0.1:8443\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}',
    false,
  );
  expect(response).toMatch(/^HTTP\/1\.1 404 /);
  expect(response).toContain('use base URL https://127.0.0.1:8443/v1');
  expect(gateway.server.server.headersTimeout).toBe(15_000);
  expect(gateway.server.server.keepAliveTimeout).toBe(75_000);
});

it('serves a client that half-closes', async () => {
  const gateway = await startGateway({
    server: { tls },
    run: async ({ client }) => {
      await delay(50);
      client.start(200, { 'content-type': 'text/event-stream' });
      client.write('data: 1\n\n');
      await delay(20);
      client.end('data: [DONE]\n\n');
    },
  });
  const response = await exchange(
    gateway.port,
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-length: 2\r\n\r\n{}`,
    true,
  );
  expect(response).toContain('data: [DONE]\n\n');
});

it('has the certificate of now after a reload, and drops no connection', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tls-'));
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  copyFileSync(tls.cert, files.cert);
  copyFileSync(tls.key, files.key);
  const gateway = await startTestGateway({ tls: files });
  onTestFinished(async () => {
    await gateway.close();
    rmSync(folder, { recursive: true });
  });
  const { port } = new URL(gateway.url);
  const health = 'GET /health HTTP/1.1\r\nhost: x\r\n\r\n';
  const connected = () =>
    new Promise<TLSSocket>((resolve, reject) => {
      const socket = connect({ port: Number(port), host: '127.0.0.1', rejectUnauthorized: false });
      socket.once('secureConnect', () => resolve(socket));
      socket.once('error', reject);
    });
  const ask = (socket: TLSSocket) =>
    new Promise<string>((resolve) => {
      socket.once('data', (data) => resolve(String(data)));
      socket.write(health);
    });
  const nameAt = async () => {
    const socket = await connected();
    const { CN } = socket.getPeerCertificate().subject;
    socket.destroy();
    return CN;
  };
  const early = await connected();
  expect(await ask(early)).toContain('200 OK');
  const before = await nameAt();

  const make =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=new';
  execFileSync('openssl', [...make.split(' '), '-keyout', files.key, '-out', files.cert], {
    stdio: 'ignore',
  });
  await gateway.app.refresh();
  expect([before, await nameAt()]).toEqual(['localhost', 'new']);
  expect(await ask(early)).toContain('200 OK');

  writeFileSync(files.cert, 'half a file');
  await expect(gateway.app.refresh()).rejects.toThrow('are not a certificate and its key');
  expect(await nameAt()).toBe('new');
  early.destroy();
});

it('does not respond to plain HTTP', async () => {
  const gateway = await startGateway({ server: { tls } });
  await expect(fetch(`http://127.0.0.1:${gateway.port}/health`)).rejects.toThrow('fetch failed');
});

/** What a client that offers these speaks with us afterwards; rejects when there is no agreement. */
function negotiate(port: number, alpn: readonly string[]): Promise<string | false | null> {
  return new Promise((resolve, reject) => {
    const socket = connectTls(port, alpn);
    socket.on('error', reject);
    socket.on('secureConnect', () => {
      resolve(socket.alpnProtocol);
      socket.destroy();
    });
  });
}

// Rapid resets of streams (CVE-2023-44487) need HTTP/2.
describe('S-47 HTTP/2', () => {
  it('is not negotiated in TLS', async () => {
    const { port } = await startGateway({ server: { tls } });
    expect(await negotiate(port, ['h2', 'http/1.1'])).toBe('http/1.1');
    await expect(negotiate(port, ['h2'])).rejects.toThrow(/no application protocol/i);
  });

  it('is not started by a client that assumes it', async () => {
    const gateway = await startGateway();
    const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0';
    expect(await raw(gateway.port, preface)).toMatch(/^HTTP\/1\.1 400 /);
    expect(gateway.unexpected).toEqual([]);
  });

  it('is not upgraded to, and a request that offers the upgrade is served', async () => {
    const gateway = await startGateway();
    const headers = {
      'x-api-key': key,
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: 'h2c',
      'http2-settings': 'AAMAAABkAAQAAP__',
    };
    const response = await call(gateway.port, '/v1/messages', { headers, body: '{"a":1}' });
    expect(response.status).toBe(200);
    expect(gateway.exchanges[0]?.body.toString()).toBe('{"a":1}');
  });
});
