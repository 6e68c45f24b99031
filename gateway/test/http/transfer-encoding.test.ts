import { describe, expect, it } from 'vitest';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { sendRaw } from '../behaviour/support.ts';
import { key, startGateway } from './support.ts';

const chunks = '2\r\n{}\r\n0\r\n\r\n';

describe.each(textProtocols)('$name', (protocol) => {
  const send = async (version: string, coding: string) => {
    const { port, exchanges } = await startGateway();
    const client = await sendRaw(
      `http://127.0.0.1:${port}`,
      `POST ${protocol.path('demo-chat', false)} HTTP/${version}\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ntransfer-encoding: ${coding}\r\nconnection: close\r\n\r\n${chunks}`,
    );
    await client.ended;
    const [head = '', body = ''] = client.received().split('\r\n\r\n');
    return { head, body, asked: exchanges.length };
  };

  it.each(['gzip, chunked', 'identity, chunked', 'x, chunked'])(
    'an unsupported coding is 501: %s',
    async (coding) => {
      const { head, body, asked } = await send('1.1', coding);
      expect([head.split('\r\n')[0], asked]).toEqual(['HTTP/1.1 501 Not Implemented', 0]);
      expect(head).toMatch(/connection: close/i);
      expect(protocol.errorMessage(JSON.parse(body))).toBe('unsupported transfer encoding');
    },
  );

  it.each(['identity', 'gzip', 'xchunked'])('a body that would end nowhere: %s', async (coding) => {
    const { head, asked } = await send('1.1', coding);
    expect([head.split('\r\n')[0], asked]).toEqual(['HTTP/1.1 501 Not Implemented', 0]);
  });

  it('a coding in HTTP/1.0 is 400', async () => {
    const { head, body, asked } = await send('1.0', 'chunked');
    expect([head.split('\r\n')[0], asked]).toEqual(['HTTP/1.1 400 Bad Request', 0]);
    expect(protocol.errorMessage(JSON.parse(body))).toBe('HTTP/1.0 has no transfer-encoding');
  });

  it('chunked is accepted in any spelling', async () => {
    expect((await send('1.1', 'Chunked')).asked).toBe(1);
  });
});
