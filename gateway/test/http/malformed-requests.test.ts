import { describe, expect, it } from 'vitest';
import { malformedRequests } from './malformed-requests.ts';
import { delay, key, open, raw, startGateway } from './support.ts';

const path = '/v1/chat/completions';
const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n`;

describe('S-24 malformed HTTP is refused or cut, and runs nothing', () => {
  it.each(malformedRequests(key))('%s', async (_name, bytes) => {
    const gateway = await startGateway();
    const response = await raw(gateway.port, Buffer.from(bytes, 'latin1'));
    expect(response).toMatch(/^(?:|HTTP\/1\.1 (?:400|431|501) .*)$/s);
    expect(response.match(/HTTP\/1\.1/g)?.length ?? 0).toBeLessThanOrEqual(1);
    expect(gateway.exchanges).toEqual([]);
    expect(gateway.unexpected).toEqual([]);
  });

  it('a 400 carries a request id', async () => {
    const gateway = await startGateway();
    const response = await raw(gateway.port, 'nonsense\r\n\r\n');
    expect(response).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nx-request-id: req_[\w-]{24}\r\n/);
  });

  it('never breaks into a response that has begun', async () => {
    const gateway = await startGateway({
      run: async ({ client }) => {
        client.start(200, { 'content-type': 'text/event-stream' });
        client.write('data: 1\n\n');
        await delay(100);
        client.end('data: 2\n\n');
      },
    });
    const socket = open(gateway.port);
    socket.on('error', () => {});
    socket.write(`${head}content-length: 2\r\n\r\n{}`);
    let received = '';
    socket.on('data', (chunk) => {
      if (received === '') socket.write('GARBAGE\r\n\r\n');
      received += chunk.toString();
    });
    socket.on('end', () => socket.end());
    await new Promise((resolve) => {
      socket.on('close', resolve);
    });
    expect(received).toContain('data: 1');
    expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });
});

describe('S-24 slow requests are cut', () => {
  const encodings = ['content-length: 5000\r\n', 'transfer-encoding: chunked\r\n'];

  it.each([
    ['a head that stops', 'POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-a: ', ''],
    ['a head in trickles', 'POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-a: ', 'b'],
    ['a first line in trickles', 'POST /v1/', 'm'],
    ...encodings.flatMap((encoding) => [
      [`a body that stops, ${encoding.trim()}`, `${head}${encoding}\r\n`, ''],
      [
        `a body in trickles, ${encoding.trim()}`,
        `${head}${encoding}\r\n`,
        encoding.startsWith('t') ? '1\r\n \r\n' : ' ',
      ],
    ]),
  ])('%s', async (_name, beginning, more) => {
    const gateway = await startGateway({ server: { headersTimeout: 100, requestTimeout: 200 } });
    const socket = open(gateway.port);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString();
    });
    socket.on('error', () => {});
    socket.write(beginning);
    const trickle = setInterval(() => {
      if (more !== '' && socket.writable) socket.write(more);
    }, 20);
    await new Promise((resolve) => {
      socket.on('end', resolve);
      socket.on('close', resolve);
    });
    clearInterval(trickle);
    socket.destroy();
    expect(received).toMatch(/^HTTP\/1\.1 408 .*connection: close\r\n/s);
    expect(gateway.exchanges).toEqual([]);
    expect(gateway.unexpected).toEqual([]);
  });
});
