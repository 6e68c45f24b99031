import { expect, test } from 'vitest';
import { answeredWords } from '../support/own-upstream.ts';
import { ask, attemptsOf, openGateway, openTcpServer, rowOf } from './support.ts';
import { textProtocols } from './text-protocols.ts';

test.each([
  ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['102 Processing', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ['103 Early Hints', 'HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n'],
])('unrequested %s responses are skipped, however many', async (_name, interim) => {
  const completion = JSON.stringify({
    choices: [{ index: 0, message: { content: answeredWords }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 7, completion_tokens: 9 },
  });
  let requests = 0;
  const url = await openTcpServer((socket) => {
    socket.on('data', (bytes: Buffer) => {
      if (!bytes.toString('latin1').endsWith('}')) return;
      requests += 1;
      socket.write(interim);
      setImmediate(() =>
        socket.write(
          `${interim}${interim}HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${completion.length}\r\n\r\n${completion}`,
        ),
      );
    });
  });
  const gateway = await openGateway({
    config: `
channels:
  - { name: eager, provider: openai-compatible, base_url: "${url}/v1", protocols: [chat], models: [demo-chat] }
`,
  });
  const chat = textProtocols[0]!;
  for (const expected of [1, 2]) {
    expect(await ask(gateway, chat, false)).toMatchObject({ status: 200, text: completion });
    expect(requests).toBe(expected);
  }
});

test('interim responses do not prolong the time until the response must begin', async () => {
  const url = await openTcpServer((socket) => {
    const hints = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 200);
    socket.on('close', () => clearInterval(hints));
  });
  const gateway = await openGateway({
    config: `
timeouts: { first_byte: 1s }
channels:
  - { name: eager, provider: openai-compatible, base_url: "${url}/v1", protocols: [chat], models: [demo-chat] }
`,
  });
  const { status, id } = await ask(gateway, textProtocols[0]!, false);
  expect(status).toBe(502);
  const row = await rowOf(gateway, id);
  expect(attemptsOf(row)[0]).toMatchObject({ class: 'uncertain', result: 'first-byte-timeout' });
});

test.each([
  ['answers', 'HTTP/1.1 103 Early Hints\r\n\r\n', 101],
  ['bytes', `HTTP/1.1 103 Early Hints\r\nlink: ${'x'.repeat(30_000)}\r\n\r\n`, 3],
])('too many interim %s responses break the call', async (_name, interim, count) => {
  const url = await openTcpServer((socket) => {
    socket.on('data', () => socket.write(interim.repeat(count)));
  });
  const gateway = await openGateway({
    config: `
channels:
  - { name: eager, provider: openai-compatible, base_url: "${url}/v1", protocols: [chat], models: [demo-chat] }
`,
  });
  const { status, id } = await ask(gateway, textProtocols[0]!, false);
  expect(status).toBe(502);
  const row = await rowOf(gateway, id);
  expect(attemptsOf(row)[0]).toMatchObject({ class: 'uncertain', result: 'malformed' });
});
