import { describe, expect, it } from 'vitest';
import { sendRaw } from '../behaviour/support.ts';
import { startGateway } from './support.ts';

async function get(path: string, host: string | null, publicUrl: string | null = null) {
  const { port } = await startGateway({ server: { publicUrl } });
  const version = host === null ? '1.0' : '1.1';
  const line = host === null ? '' : `host: ${host}\r\n`;
  const client = await sendRaw(
    `http://127.0.0.1:${port}`,
    `GET ${path} HTTP/${version}\r\n${line}connection: close\r\n\r\n`,
  );
  await client.ended;
  const text = client.received();
  return { status: Number(text.slice(9, 12)), text };
}

describe.each(['/ready', '/metrics'])('S-26 %s, which needs no key,', (path) => {
  it.each(['127.0.0.1:8080', 'localhost', '[::1]:8080', '10.0.0.7', null])(
    'is open to callers by address or localhost: %s',
    async (host) => {
      expect((await get(path, host)).status).toBe(200);
    },
  );

  it('is open under the name of server.public_url', async () => {
    expect((await get(path, 'ai.example.com', 'https://ai.example.com')).status).toBe(200);
  });

  it.each(['rebound.evil.example', 'localhost.evil.example', '127.0.0.1.evil.example:8080'])(
    'is hidden from a page that made its own name resolve here: %s',
    async (host) => {
      const { status, text } = await get(path, host, 'https://ai.example.com');
      expect(status).toBe(404);
      expect(text).not.toMatch(/degraded|sluice_|status":"ok/);
    },
  );
});

it.each(['evil.example', 'proxied-host', 'ai.example.com.evil.example'])(
  'advice never names a foreign host: %s',
  async (host) => {
    for (const path of ['/v1/v1/models', '/chat/completions', '/x/v1/chat/completions']) {
      expect((await get(path, host)).text).not.toContain(host);
    }
    const { text } = await get('/v1/v1/models', host, 'https://ai.example.com');
    expect(text).toContain('x-sluice-hint: use base URL https://ai.example.com/v1');
  },
);

it('advice names the address that the client called', async () => {
  expect((await get('/v1/v1/models', '127.0.0.1:8080')).text).toContain(
    'x-sluice-hint: use base URL http://127.0.0.1:8080/v1',
  );
});
