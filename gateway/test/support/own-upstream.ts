import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An upstream that says whatever a test wants, in any protocol: what the simulator is too well-behaved for. */
export interface OwnUpstream {
  readonly url: string;
  /** Answers every request from here on. */
  answer: (request: Asked, response: ServerResponse) => void;
  /** What was asked since the last `clear`. */
  readonly asked: readonly Asked[];
  clear(): void;
  close(): Promise<void>;
}

export interface Asked {
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly headers: IncomingMessage['headers'];
}

/** @param at where it listens. Default: any free port of 127.0.0.1. */
export async function startOwnUpstream(
  at: { readonly host?: string; readonly port?: number } = {},
): Promise<OwnUpstream> {
  const { host = '127.0.0.1', port = 0 } = at;
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const one = {
        path: request.url ?? '',
        body: JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>,
        headers: request.headers,
      };
      asked.push(one);
      upstream.answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  const upstream: OwnUpstream = {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    answer: (_request, response) => void response.writeHead(500).end(),
    asked,
    clear: () => void asked.splice(0),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return upstream;
}

export const answeredWords = 'the quick brown fox jumps over the lazy dog';

/** A response of the protocol that a path belongs to, with this usage object; `undefined`: without one. */
export function answerWith(usage: unknown, spoilt: Spoilt = {}): OwnUpstream['answer'] {
  const { status = 200, more = '', swapped = false, type } = spoilt;
  const spoil = (text: string): string => text.replace('{', `{${more}`);
  return ({ path, body }, response) => {
    const { whole, events } = shapesOf(path, usage);
    const isStream = body['stream'] === true || path.includes(':stream');
    if (isStream === swapped) {
      response.writeHead(status, { 'content-type': type ?? 'application/json' }).end(spoil(whole));
      return;
    }
    response.writeHead(status, { 'content-type': type ?? 'text/event-stream' });
    response.end(spoil(events.join('')));
  };
}

/** A stream of the protocol with one usage object in an early event and another in the last, whatever was asked for. */
export function eventsWith(first: unknown, last: unknown): OwnUpstream['answer'] {
  return ({ path }, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(earlyUsage(path, first, shapesOf(path, last).events).join(''));
  };
}

/** The same events, the first of them with a report of usage where its protocol has one. */
function earlyUsage(path: string, usage: unknown, events: readonly string[]): string[] {
  const [head = '', ...rest] = events;
  const start = head.indexOf('data: ') + 6;
  const json = JSON.parse(head.slice(start)) as Record<string, Record<string, unknown>>;
  if (path.includes(':')) {
    const { candidates: _, ...bare } = json;
    const early = { ...bare, candidates: [], usageMetadata: usage };
    return [data(early), ...events];
  }
  if (path.endsWith('/messages')) json['message'] = { ...json['message'], usage };
  else if (path.endsWith('/responses')) json['response'] = { ...json['response'], usage };
  else json['usage'] = usage as Record<string, unknown>;
  return [head.slice(0, start) + JSON.stringify(json) + '\n\n', ...rest];
}

export interface Spoilt {
  readonly status?: number;
  /** A stream where the whole was asked, and the other way round. Default: false. */
  readonly swapped?: boolean;
  /** The content type. Default: that of the response. */
  readonly type?: string;
  /** Members, as JSON text with a comma behind, before all others of the response or its first event. */
  readonly more?: string;
}

/** A usage object of the protocol at this path: input and output are the given values. */
export function usageAt(path: string, input: unknown, output: unknown): Record<string, unknown> {
  if (path.includes(':')) return { promptTokenCount: input, candidatesTokenCount: output };
  if (path.endsWith('/chat/completions'))
    return { prompt_tokens: input, completion_tokens: output };
  return { input_tokens: input, output_tokens: output };
}

interface Shapes {
  readonly whole: string;
  /** Frames; the usage comes where the protocol has its last word on it. */
  readonly events: readonly string[];
}

function shapesOf(path: string, usage: unknown): Shapes {
  if (path.endsWith('/chat/completions')) return chat(usage);
  if (path.endsWith('/responses')) return responses(usage);
  return path.endsWith('/messages') ? messages(usage) : generateContent(usage);
}

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const event = (type: string, more: object): string => `event: ${type}\n${data({ type, ...more })}`;

function chat(usage: unknown): Shapes {
  const base = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
  const choice = (delta: object, finish: string | null) =>
    data({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] });
  return {
    whole: JSON.stringify({
      ...base,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: answeredWords },
          finish_reason: 'stop',
        },
      ],
      usage,
    }),
    events: [
      choice({ role: 'assistant', content: answeredWords }, null),
      choice({}, 'stop'),
      ...(usage === undefined ? [] : [data({ ...base, choices: [], usage })]),
      'data: [DONE]\n\n',
    ],
  };
}

function responses(usage: unknown): Shapes {
  const content = [{ type: 'output_text', text: answeredWords, annotations: [] }];
  const item = { id: 'msg', type: 'message', role: 'assistant', status: 'completed', content };
  const base = { id: 'resp', object: 'response', created_at: 1, model: 'm', status: 'completed' };
  const response = { ...base, output: [item], usage };
  const place = { item_id: 'msg', output_index: 0, content_index: 0 };
  return {
    whole: JSON.stringify(response),
    events: [
      event('response.created', { sequence_number: 0, response: { ...base, output: [] } }),
      event('response.output_item.added', {
        sequence_number: 1,
        output_index: 0,
        item: { ...item, content: [] },
      }),
      event('response.output_text.delta', { sequence_number: 2, ...place, delta: answeredWords }),
      event('response.output_item.done', { sequence_number: 3, output_index: 0, item }),
      event('response.completed', { sequence_number: 4, response }),
    ],
  };
}

function messages(usage: unknown): Shapes {
  const base = { id: 'msg', type: 'message', role: 'assistant', model: 'm' };
  const block = { type: 'text', text: answeredWords };
  return {
    whole: JSON.stringify({
      ...base,
      content: [block],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage,
    }),
    events: [
      event('message_start', {
        message: { ...base, content: [], stop_reason: null, ...(usage !== undefined && { usage }) },
      }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      event('content_block_delta', {
        index: 0,
        delta: { type: 'text_delta', text: answeredWords },
      }),
      event('content_block_stop', { index: 0 }),
      event('message_delta', {
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        ...(usage !== undefined && { usage }),
      }),
      event('message_stop', {}),
    ],
  };
}

function generateContent(usageMetadata: unknown): Shapes {
  const response = {
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts: [{ text: answeredWords }] },
        finishReason: 'STOP',
      },
    ],
    usageMetadata,
    modelVersion: 'm',
  };
  return { whole: JSON.stringify(response), events: [data(response)] };
}
