import { expect, test } from 'vitest';
import { answeredWords } from '../support/own-upstream.ts';
import { ask, openGateway, openTcpServer } from './support.ts';
import { textProtocols } from './text-protocols.ts';

test.each([
  ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['102 Processing', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ['103 Early Hints', 'HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n'],
])('a %s that nobody asked for is passed over, however often', async (_name, interim) => {
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
