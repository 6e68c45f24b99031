import { describe, expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { ask, closedPort, describeChannels, rawPost, sendRaw, shareGateway } from './support.ts';
import { textProtocols, type TextProtocol } from './text-protocols.ts';

const mebibyte = 2 ** 20;
const shared = shareGateway({
  config: describeChannels([
    { name: 'sim', models: ['demo-chat'] },
    { name: 'dead', at: `http://127.0.0.1:${await closedPort()}`, models: ['dead -> demo-chat'] },
    {
      name: 'hangs',
      at: '/fault(stall)',
      models: ['hangs -> demo-chat'],
      more: ['timeouts: { first_byte: 300ms }'],
    },
    { name: 'html', at: '/fault(html)', models: ['html -> demo-chat'] },
    { name: 'early', at: '/fault(close-early)', models: ['early -> demo-chat'] },
  ]),
});

/** Sends a body as it is and answers what came, judged by the protocol's own shape. */
async function send(
  protocol: TextProtocol,
  body: string | Buffer,
  headers: Record<string, string> = {},
  path = protocol.path('demo-chat', false),
) {
  const { gateway } = shared;
  const rowsBefore = (await gateway.usage()).length;
  gateway.simulator.clear();
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json', ...headers },
    body,
  });
  const text = await response.text();
  return {
    status: response.status,
    message: response.status === 200 ? null : protocol.errorMessage(JSON.parse(text)),
    upstream: gateway.simulator.requests().length,
    rows: (await gateway.usage()).length - rowsBefore,
  };
}

const refused = (status: number, message: string, rows: number) => ({
  status,
  message,
  upstream: 0,
  rows,
});

describe.each(textProtocols)('$name', (protocol) => {
  const good = protocol.body('demo-chat', false);
  const text = JSON.stringify(good);
  const deep = (levels: number) =>
    text.replace('{', `{"x_deep":${'['.repeat(levels)}${']'.repeat(levels)},`);

  test.each([
    ['nothing', ''],
    ['no JSON', '{"model":'],
    ['a list', '[]'],
    ['a string', '"demo-chat"'],
    ['null', 'null'],
    ['two values', `${text}{}`],
    [
      'a byte that is not UTF-8',
      Buffer.concat([
        Buffer.from(text.slice(0, -1)),
        Buffer.from([0x2c, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
      ]),
    ],
    ['nested too deeply', deep(600), ': too complex'],
    ['nested beyond reason', deep(200_000), ': too complex'],
  ])('S-21 a body of %s', async (_name, body, detail = '') => {
    expect(await send(protocol, body)).toMatchObject({
      status: 400,
      message: `invalid request body${detail}`,
      upstream: 0,
    });
  });

  test('a deep body within the limit is passed to the upstream', async () => {
    expect(await send(protocol, deep(500))).toMatchObject({ status: 200, upstream: 1 });
  });

  test('a request without the member that its protocol requires is refused', async () => {
    const { status, message, upstream } = await send(
      protocol,
      JSON.stringify({ model: 'demo-chat' }),
    );
    expect([status, upstream]).toEqual([400, 0]);
    expect(message).toMatch(/^(messages|input|contents) is required$/);
  });

  test('S-22 unsupported content types and encodings are refused', async () => {
    expect(await send(protocol, text, { 'content-type': 'text/plain' })).toMatchObject(
      refused(415, 'unsupported content type', 0),
    );
    expect(await send(protocol, text, { 'content-encoding': 'compress' })).toMatchObject(
      refused(415, 'unsupported content encoding', 0),
    );
    expect(await send(protocol, text, { 'content-encoding': 'gzip' })).toMatchObject({
      status: 400,
      upstream: 0,
    });
  });

  test('S-22 a declared length of 65 MiB is refused', async () => {
    const declared = await sendRaw(
      shared.gateway.url,
      `POST ${protocol.path('demo-chat', false)} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testKey}\r\ncontent-type: application/json\r\ncontent-length: ${65 * mebibyte}\r\nconnection: close\r\n\r\n{`,
    );
    declared.socket.end();
    await declared.ended;
    expect(declared.received()).toMatch(/^HTTP\/1\.1 413 /);
    expect(protocol.errorMessage(JSON.parse(declared.received().split('\r\n\r\n')[1] ?? ''))).toBe(
      'request body too large',
    );
  });

  test('a wrong method or prefix is refused', async () => {
    const { gateway } = shared;
    const headers = { authorization: `Bearer ${testKey}` };
    const path = protocol.path('demo-chat', false);
    const got = await fetch(gateway.url + path, { headers });
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
    expect(protocol.errorMessage(await got.json())).toBe('method not allowed');
    const bare = await gateway.post(path.replace(/^\/v1(beta)?/, ''), good);
    expect([bare.status, (await bare.text()).includes('not found')]).toEqual([404, true]);
    const doubled = await gateway.post(path.replace(/^\/(v1(beta)?)/, '/$1/$1'), good);
    expect(doubled.status).toBe(200);
    expect(doubled.headers.get('x-sluice-hint')).not.toBeNull();
    await doubled.text();
  });

  test.each([
    '../../v1/files',
    '..%2f..%2fadmin',
    '/etc/passwd',
    'demo-chat?key=x',
    'demo-chat#x',
    'demo-chat:generateContent?key=',
    'demo-chat\r\nx-injected: 1',
    'demo-chat\u0000',
    'demo-chаt',
    'DEMO-CHAT',
    ' demo-chat',
    '__proto__',
    'constructor',
    'toString',
    'x'.repeat(10_000),
    "'; drop table usage; --",
    '<script>alert(1)</script>',
  ])('S-25 the model %j is an ordinary name that no channel serves', async (model) => {
    const path = protocol.path(model, false);
    const { status, message, upstream, rows } = await send(
      protocol,
      JSON.stringify({ ...good, ...(protocol.name !== 'generate-content' && { model }) }),
      {},
      path,
    );
    expect(upstream).toBe(0);
    expect(status).toBe(400);
    expect(rows).toBe(1);
    expect(message).toContain('is not available, please use a different model');
  });

  test.each(['dead', 'hangs', 'html', 'early'])(
    'an upstream that is %s gives a 502 and a row',
    async (model) => {
      const response = await ask(shared.gateway, protocol, false, model);
      expect([response.status, protocol.errorMessage(JSON.parse(response.text))]).toEqual([
        502,
        'upstream response abnormal',
      ]);
      const rows = (await shared.gateway.usage()).filter(({ id }) => id === response.id);
      expect(rows).toMatchObject([
        { outcome: 'failed', status: 502, tokens: { input: 0, output: 0 } },
      ]);
    },
  );

  test('S-25 a header value cannot smuggle in another header', async () => {
    const { gateway } = shared;
    gateway.simulator.clear();
    const client = await sendRaw(
      gateway.url,
      rawPost(protocol.path('demo-chat', false), good, [
        'user-agent: a\rx-injected: 1',
        'connection: close',
      ]),
    );
    client.socket.end();
    await client.ended;
    expect(client.received()).toMatch(/^HTTP\/1\.1 400 /);
    expect(gateway.simulator.requests()).toEqual([]);
  });
});

test.each(textProtocols.filter(({ name }) => name !== 'generate-content'))(
  '$name: a missing, empty or non-string model is refused',
  async (protocol) => {
    for (const model of [undefined, '', null, 7, ['demo-chat'], { id: 'demo-chat' }]) {
      const body = JSON.stringify({ ...protocol.body('demo-chat', false), model });
      expect(await send(protocol, body)).toEqual(refused(400, 'model is required', 1));
    }
  },
);

test('a header value beyond ASCII is passed on or refused, and never crashes', async () => {
  const { gateway } = shared;
  const client = await sendRaw(
    gateway.url,
    Buffer.from(
      rawPost('/v1/chat/completions', textProtocols[0]!.body('demo-chat', false), [
        'user-agent: caf\u00e9 \u0080',
        'connection: close',
      ]),
      'latin1',
    ),
  );
  await client.ended;
  expect(client.received()).toMatch(/^HTTP\/1\.1 (200|400) /);
});

test('S-22 65 MiB in chunks without a declared length are refused', async () => {
  const path = '/v1/chat/completions';
  const client = await sendRaw(
    shared.gateway.url,
    `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testKey}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n`,
  );
  const chunk = Buffer.concat([
    Buffer.from('100000\r\n'),
    Buffer.alloc(mebibyte, ' '),
    Buffer.from('\r\n'),
  ]);
  for (let sent = 0; sent < 65 && !client.socket.destroyed; sent += 1) {
    await new Promise<void>((resolve) => client.socket.write(chunk, () => resolve()));
  }
  client.socket.end('0\r\n\r\n');
  await client.ended;
  expect(client.received()).toMatch(/^HTTP\/1\.1 413 /);
  expect(client.received()).toContain('request body too large');
});

test('the gateway serves normally after all this', async () => {
  for (const protocol of textProtocols) {
    expect((await ask(shared.gateway, protocol, true)).text).toMatch(protocol.terminator);
  }
});
