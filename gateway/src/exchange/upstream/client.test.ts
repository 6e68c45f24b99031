import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { Timeouts } from '#config/index.ts';
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
