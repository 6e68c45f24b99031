import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort } from 'node:worker_threads';

/*
 * An upstream that discards bodies and responds briefly, in a thread of its own, so that it delays nobody who is
 * measured.
 */

const body = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 1 },
});

const server = createServer((request, response) => {
  request.resume();
  request.on('error', () => {});
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
});
server.listen(0, '127.0.0.1', () => {
  parentPort?.postMessage(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
});
