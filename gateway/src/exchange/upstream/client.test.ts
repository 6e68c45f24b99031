import { hash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Timeouts } from '#config/index.ts';
import { signerOf, type Signing, type Token } from '#vendors/signing.ts';
import { createUpstreamClient } from './client.ts';

const timeouts: Timeouts = {
  connect: 5_000,
  firstByte: 5_000,
  imageFirstByte: 5_000,
  streamIdle: 5_000,
  total: 5_000,
  keepaliveComment: 5_000,
};

/** Responds only on request, and counts. */
async function startUpstream() {
  const sockets = new Set<Socket>();
  const waiting: ServerResponse[] = [];
  const state = { most: 0, opened: 0, asked: 0, onAsked: () => {} };
  const server = createServer((request, response) => {
    request.resume();
    state.asked += 1;
    waiting.push(response);
    state.onAsked();
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    state.opened += 1;
    state.most = Math.max(state.most, sockets.size);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state,
    answerOne: () => waiting.shift()?.end('{}'),
    asked: (count: number) =>
      new Promise<void>((resolve) => {
        state.onAsked = () => {
          if (state.asked >= count) resolve();
        };
        state.onAsked();
      }),
  };
}

test('no more connections than allowed; excess requests wait for their turn and are answered', async () => {
  const limit = 3;
  const upstream = await startUpstream();
  const client = createUpstreamClient({
    maxConnections: limit,
    onDefect: (error) => expect.fail(String(error)),
  });
  onTestFinished(() => client.close());
  const answered: number[] = [];
  const calls = Array.from({ length: 10 }, (_, index) => {
    const ended = Promise.withResolvers<void>();
    client.send(
      {
        origin: upstream.origin,
        path: '/',
        method: 'POST',
        headers: {},
        body: Buffer.from('{}'),
        timeouts,
      },
      {
        onHead: () => {},
        onData: () => {},
        onEnd: () => {
          answered.push(index);
          ended.resolve();
        },
        onBreak: ended.reject,
      },
    );
    return ended.promise;
  });
  for (let done = 0; done < calls.length; done += 1) {
    await upstream.asked(Math.min(done + limit, calls.length));
    expect(upstream.state.asked).toBe(Math.min(done + limit, calls.length));
    upstream.answerOne();
    while (answered.length <= done) await setImmediate();
  }
  await Promise.all(calls);
  expect(answered.toSorted((a, b) => a - b)).toEqual(calls.map((_, index) => index));
  expect(upstream.state.most).toBe(limit);
});

test('a request with a connection of its own neither takes an idle one nor leaves one', async () => {
  const upstream = await startUpstream();
  const client = createUpstreamClient({
    maxConnections: 4,
    onDefect: (error) => expect.fail(String(error)),
  });
  onTestFinished(() => client.close());
  const ask = (ownConnection: boolean, asked: number) =>
    new Promise<void>((resolve, reject) => {
      client.send(
        {
          origin: upstream.origin,
          path: '/',
          method: 'POST',
          headers: {},
          body: Buffer.from('{}'),
          timeouts,
          ownConnection,
        },
        { onHead() {}, onData() {}, onEnd: resolve, onBreak: reject },
      );
      void upstream.asked(asked).then(upstream.answerOne);
    });
  const order = [false, false, true, true, false];
  const connections: number[] = [];
  for (const [at, own] of order.entries()) {
    await ask(own, at + 1);
    // The connection is idle a moment after the response.
    await setImmediate();
    connections.push(upstream.state.opened);
  }
  expect(connections).toEqual([1, 1, 2, 3, 3]);
});

/** A vendor of a cloud: a token for the secret, and a signature over address and body. */
function cloud() {
  const renewals: ((token: Token) => void)[] = [];
  const state = { renewals, failure: null as Error | null };
  const renew = (): Promise<Token> => {
    if (state.failure !== null) return Promise.reject(state.failure);
    return new Promise((resolve) => void renewals.push(resolve));
  };
  const vendor: Signing = {
    async sign({ method, url, body }, secret, tokens) {
      const token = await tokens.of(secret ?? '', renew);
      const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
      const path = new URL(url).pathname;
      const text = `${method} ${path} ${bytes.toString()}`;
      return {
        authorization: `Bearer ${token}`,
        'x-signature': hash('sha256', `${token} ${text}`),
      };
    },
    onResponse: (status, secret, tokens) => void (status === 401 && tokens.forget(secret ?? '')),
  };
  return {
    vendor,
    state,
    renewed: async (count: number): Promise<void> => {
      while (renewals.length < count) await setImmediate();
    },
    give: (value: string, expiresAt = Infinity): void => renewals.at(-1)?.({ value, expiresAt }),
  };
}

/** Answers at once with the status that is next, else 200, and remembers what it was sent. */
async function startRecorder(statuses: number[]) {
  const heads: { authorization: string | undefined; isSigned: boolean }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { authorization, 'x-signature': signature } = request.headers;
      const token = authorization?.replace('Bearer ', '');
      const text = `${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`;
      heads.push({ authorization, isSigned: signature === hash('sha256', `${token} ${text}`) });
      response.writeHead(statuses.shift() ?? 200).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heads };
}

describe('a request that its vendor signs', () => {
  const start = async (...statuses: number[]) => {
    const { vendor, ...others } = cloud();
    const upstream = await startRecorder(statuses);
    const client = createUpstreamClient({
      maxConnections: 4,
      onDefect: (error) => expect.fail(String(error)),
    });
    onTestFinished(() => client.close());
    const send = (body: string, connect = 5_000) => {
      const ended = Promise.withResolvers<number>();
      let status = 0;
      const call = client.send(
        {
          origin: upstream.origin,
          path: '/models/m',
          method: 'POST',
          headers: {},
          body: Buffer.from(body),
          timeouts: { ...timeouts, connect },
          signer: signerOf(vendor, 'secret'),
        },
        {
          onHead: (code) => void (status = code),
          onData() {},
          onEnd: () => ended.resolve(status),
          onBreak: ended.reject,
        },
      );
      return { call, ended: ended.promise };
    };
    return { ...others, upstream, send };
  };
  const first = { authorization: 'Bearer first', isSigned: true };
  const second = { authorization: 'Bearer second', isSigned: true };

  test('waits for a token that all share, and has a signature over its address and body', async () => {
    const { send, upstream, renewed, give, state } = await start();
    const both = [send('{"a":1}'), send('{"b":2}')];
    await renewed(1);
    give('first');
    await Promise.all(both.map(({ ended }) => ended));
    await send('{}').ended;
    expect(state.renewals).toHaveLength(1);
    expect(upstream.heads).toEqual([first, first, first]);
  });

  test('gets a new token when the old one has expired, or was refused', async () => {
    const { send, upstream, renewed, give } = await start(200, 401);
    const expired = send('{}');
    await renewed(1);
    give('first', 0);
    await expired.ended;
    const refused = send('{}');
    await renewed(2);
    give('second');
    expect(await refused.ended).toBe(401);
    const third = send('{}');
    await renewed(3);
    give('first');
    expect(await third.ended).toBe(200);
    expect(upstream.heads).toEqual([first, second, first]);
  });

  test('is not sent if it cannot be signed, also not in time, and the next one tries again', async () => {
    const { send, upstream, renewed, give, state } = await start();
    state.failure = new Error('no token');
    const broken = { breakPoint: 'not-sent', reason: 'unsigned' };
    await expect(send('{}').ended).rejects.toMatchObject(broken);
    state.failure = null;
    await expect(send('{}', 1).ended).rejects.toMatchObject(broken);
    await renewed(1);
    give('first');
    await send('{}').ended;
    expect(upstream.heads).toEqual([first]);
  });

  test('is not sent if nobody wants it any more', async () => {
    const { send, upstream, renewed, give } = await start();
    const left = send('{}');
    await renewed(1);
    left.call.abort();
    give('first');
    await send('{"next":1}').ended;
    expect([left.call.isSent, upstream.heads]).toEqual([false, [first]]);
  });
});
