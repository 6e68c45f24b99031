import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { Pool, type Dispatcher } from 'undici';

/**
 * The least a Node gateway could do: HTTP server, key hash and look-up, JSON parse, undici `dispatch`, a search of each
 * chunk for the usage. The difference between this and the gateway is the cost of its checks, the journal and the usage
 * rows.
 */
const [upstream = '', key = ''] = process.argv.slice(2);
const pool = new Pool(`http://127.0.0.1:${upstream}`, { connections: 8192, pipelining: 1 });
const hash = (secret: string) => createHash('sha256').update(secret).digest('hex');
const keys = new Map([[hash(key), { name: 'bench' }]]);
let responsesWithUsage = 0;

const server = createServer((request, response) => {
  const secret = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
  if (!keys.has(hash(secret))) {
    response.writeHead(401).end();
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const [first] = chunks;
    const body = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
    const { model } = JSON.parse(body.toString()) as { model?: unknown };
    if (typeof model !== 'string') {
      response.writeHead(400).end();
      return;
    }
    const headers = { 'content-type': 'application/json', authorization: 'Bearer upstream' };
    pool.dispatch({ path: request.url ?? '/', method: 'POST', headers, body }, forwardTo(response));
  });
});

function forwardTo(response: ServerResponse): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller) {
      response.once('close', () => {
        if (!response.writableFinished) controller.abort(new Error('client left'));
      });
    },
    onResponseStart(_, status, headers) {
      for (const name of ['content-type', 'content-length']) {
        const value = headers[name];
        if (value !== undefined) response.setHeader(name, value);
      }
      response.writeHead(status);
    },
    onResponseData(controller, chunk) {
      if (chunk.includes('"usage"')) responsesWithUsage++;
      if (!response.write(chunk)) {
        controller.pause();
        response.once('drain', () => controller.resume());
      }
    },
    onResponseEnd() {
      response.end();
    },
    onResponseError() {
      if (!response.headersSent) response.writeHead(502);
      response.end();
    },
  };
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : null;
  process.stdout.write(`baseline listening on http://127.0.0.1:${port}\n`);
});
process.on('SIGTERM', () => {
  process.stderr.write(`baseline: usage seen in ${responsesWithUsage} chunks\n`);
  process.exit();
});
