import { describe, expect, test } from 'vitest';
import { ask, openGateway, openTcpServer, rowOf } from './support.ts';
import { textProtocols } from './text-protocols.ts';

const chat = textProtocols[0]!;

/** An upstream whose error response has a good head and a body that does not end well. */
const badBodies = {
  'reset in the body': { length: 1_000, ending: 'reset' },
  'closed in the body': { length: 1_000, ending: 'end' },
  'a body without end': { length: 1_000_000_000, ending: 'flood' },
} as const;

describe.each(Object.entries(badBodies))('%s', (_name, { length, ending }) => {
  test.each([false, true])(
    'the status of the head still decides (streamed: %s)',
    async (stream) => {
      const url = await openTcpServer((socket) => {
        socket.on('data', () => {
          socket.write(
            `HTTP/1.1 429 Too Many\r\ncontent-type: application/json\r\nretry-after: 7\r\ncontent-length: ${length}\r\n\r\n{"error":`,
            () => {
              if (ending === 'end') socket.end();
              else if (ending === 'reset') setTimeout(() => socket.resetAndDestroy(), 50);
              else flood();
            },
          );
        });
        const block = Buffer.alloc(64 * 1024, ' ');
        const flood = (): void => {
          if (!socket.destroyed) socket.write(block, () => setTimeout(flood, 1));
        };
      });
      const gateway = await openGateway({
        config: `
channels:
  - { name: up, provider: openai-compatible, base_url: "${url}/v1", protocols: [chat], models: [demo-chat] }
timeouts: { total: 5s }
`,
      });
      const response = await ask(gateway, chat, stream);
      expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7']);
      expect(await rowOf(gateway, response.id)).toMatchObject({
        outcome: 'failed',
        attempts: [{ class: 'started', status: 429, result: 'rate-limited' }],
      });
    },
  );
});
