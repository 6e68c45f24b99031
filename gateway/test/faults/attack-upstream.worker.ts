import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort } from 'node:worker_threads';

/*
 * An upstream that discards bodies and responds briefly, in a thread of its own, so that it delays nobody who is
 * measured.
 */

const chat = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 1 },
});

const contents = JSON.stringify({
  candidates: [{ content: { role: 'model', parts: [{ text: 'yes' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1, totalTokenCount: 6 },
});

const server = createServer((request, response) => {
  request.resume();
  request.on('error', () => {});
  request.on('end', () => {
    const body = request.url?.includes(':') === true ? contents : chat;
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
});
server.listen(0, '127.0.0.1', () => {
  parentPort?.postMessage(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
});
