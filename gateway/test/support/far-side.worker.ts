import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import type { FarResponse, FarMessage } from './far-side.ts';

/* The upstream and the client of `far-side.ts`. */

const headLength = 1_000;
let next: { headers: Record<string, string>; body: Uint8Array } = {
  headers: {},
  body: new Uint8Array(),
};

let given: Uint8Array = new Uint8Array();

const server = createServer((request, response) => {
  response.on('error', () => {});
  request.resume().on('end', () => {
    response.writeHead(200, next.headers);
    response.end(next.body);
  });
});
server.listen(0, '127.0.0.1', () =>
  parentPort?.postMessage({ port: (server.address() as AddressInfo).port }),
);

parentPort?.on('message', (message: FarMessage) => {
  if (message.upstream !== null) next = message.upstream;
  if (message.body !== undefined) given = message.body;
  if (message.request === null) return;
  const { url, ...init } = message.request;
  void ask(url, { body: given as Uint8Array<ArrayBuffer>, ...init }).then((response) =>
    parentPort?.postMessage(response),
  );
});

async function ask(url: string, init: RequestInit): Promise<FarResponse> {
  try {
    const response = await fetch(url, init);
    const retryAfter = response.headers.get('retry-after');
    if (response.status === 503 && retryAfter !== null) {
      // On a busy machine large responses in a row are an overload like any other, which says when to come again.
      await response.body?.cancel();
      await wait(1_000 * Number(retryAfter));
      return await ask(url, init);
    }
    let bytes = 0;
    let head = Buffer.alloc(0);
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (head.length < headLength) head = Buffer.concat([head, chunk]).subarray(0, headLength);
    }
    const id = response.headers.get('x-request-id') ?? '';
    return { status: response.status, id, bytes, head: head.toString() };
  } catch (error) {
    return { status: 0, id: '', bytes: 0, head: String(error) };
  }
}
