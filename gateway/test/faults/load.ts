import { request as httpRequest } from 'node:http';
import type { ClientLog } from './reconcile.ts';

export interface LoadOptions {
  readonly url: string;
  readonly key: string;
  readonly random: () => number;
  /** Called at the moment in which a client has seen a success terminator. */
  readonly onCompleted: () => void;
  /** The upstream's behaviour, chosen at random. Default: every fault. */
  readonly faults?: readonly string[];
  /** The share of clients that leave in the middle. Default: a tenth. */
  readonly leaving?: number;
  /** Checked before each request; absent: clients continue until the gateway is unreachable. */
  readonly wanted?: () => boolean;
}

interface Kind {
  readonly path: string;
  readonly body: (text: string) => object;
  readonly isComplete: (text: string) => boolean;
}

const question = (text: string) => [{ role: 'user', content: text }];
const contents = (text: string) => ({ contents: [{ role: 'user', parts: [{ text }] }] });
const model = 'demo-chat';
const isJson = (text: string) => text.startsWith('{') && text.trimEnd().endsWith('}');

/** Four protocols, streamed and whole. */
const kinds: readonly Kind[] = [
  {
    path: '/v1/chat/completions',
    body: (text) => ({ model, messages: question(text) }),
    isComplete: isJson,
  },
  { path: '/v1/responses', body: (text) => ({ model, input: text }), isComplete: isJson },
  {
    path: '/v1/messages',
    body: (text) => ({ model, max_tokens: 200, messages: question(text) }),
    isComplete: isJson,
  },
  { path: `/v1beta/models/${model}:generateContent`, body: contents, isComplete: isJson },
  {
    path: '/v1/chat/completions',
    body: (text) => ({ model, stream: true, messages: question(text) }),
    isComplete: (text) => text.includes('data: [DONE]\n\n'),
  },
  {
    path: '/v1/responses',
    body: (text) => ({ model, stream: true, input: text }),
    isComplete: (text) => /"type":"response\.completed".*\n\n/.test(text),
  },
  {
    path: '/v1/messages',
    body: (text) => ({ model, stream: true, max_tokens: 200, messages: question(text) }),
    isComplete: (text) => /event: message_stop\ndata: .*\n\n/.test(text),
  },
  {
    path: `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    body: contents,
    isComplete: (text) => /"finishReason":.*\n\n/.test(text),
  },
];

const everyFault = ['', '', 'gap=3', 'gap=25', 'delay=60', 'status=500', 'cut-at=4', 'error-at=3'];

/** Sends requests, several at a time, until the gateway is gone; answers what was seen of each. */
export async function runClients(options: LoadOptions, clients: number): Promise<ClientLog[]> {
  const seen: ClientLog[] = [];
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (options.wanted?.() ?? true) {
        const response = await send(options);
        if (response === null) break;
        seen.push(response);
      }
    }),
  );
  return seen;
}

/** So that each request of a file has a mark of its own. */
let sent = 0;

/** Null when the gateway cannot be reached any more. */
function send(options: LoadOptions): Promise<ClientLog | null> {
  const { url, key, random, onCompleted, faults = everyFault, leaving = 0.1 } = options;
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const kind = pick(kinds);
  const fault = pick(faults);
  const leaves = random() < leaving;
  const mark = `load-${(sent += 1)}`;
  return new Promise((resolve) => {
    let id: string | null = null;
    let status: number | null = null;
    let text = '';
    let left = false;
    // A client believes the terminator, whatever becomes of the connection after it.
    let completed = false;
    const outgoing = httpRequest(
      url + kind.path,
      {
        method: 'POST',
        agent: false,
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'x-simulator-fault': fault,
        },
      },
      (response) => {
        id = String(response.headers['x-request-id']);
        status = response.statusCode ?? null;
        if (leaves) {
          setTimeout(() => {
            left = true;
            outgoing.destroy();
          }, random() * 40);
        }
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          if (completed || response.statusCode !== 200 || !kind.isComplete(text)) return;
          completed = true;
          onCompleted();
        });
        const over = () => resolve({ mark, id, status, completed, left });
        response.on('end', over).on('error', over).on('close', over);
      },
    );
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      const isGone = error.code === 'ECONNREFUSED';
      resolve(isGone ? null : { mark, id, status, completed, left });
    });
    outgoing.end(JSON.stringify(kind.body(`${mark}.`)));
  });
}
