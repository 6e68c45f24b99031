import { request } from 'node:http';
import type { Simulator } from '../src/index.ts';

/** Body, path and headers of a minimal good request in each protocol. */
export const minimal = {
  chat: {
    path: '/v1/chat/completions',
    headers: { authorization: 'Bearer key' },
    body: { model: 'demo-chat', messages: [{ role: 'user', content: 'hello' }] },
  },
  responses: {
    path: '/v1/responses',
    headers: { authorization: 'Bearer key' },
    body: { model: 'demo-chat', input: 'hello' },
  },
  embeddings: {
    path: '/v1/embeddings',
    headers: { authorization: 'Bearer key' },
    body: { model: 'demo-embedding', input: 'hello' },
  },
  images: {
    path: '/v1/images/generations',
    headers: { authorization: 'Bearer key' },
    body: { model: 'demo-image', prompt: 'a red square' },
  },
  edits: {
    path: '/v1/images/edits',
    headers: { authorization: 'Bearer key' },
    body: {
      model: 'demo-image',
      prompt: 'a red square',
      images: [{ image_url: 'https://pictures.invalid/a.png' }],
    },
  },
  ark: {
    path: '/api/v3/images/generations',
    headers: { authorization: 'Bearer key' },
    body: { model: 'seedream-4-5-251128', prompt: 'a red square' },
  },
  messages: {
    path: '/v1/messages',
    headers: { 'x-api-key': 'key', 'anthropic-version': '2023-06-01' },
    body: {
      model: 'demo-chat',
      max_tokens: 1000,
      messages: [{ role: 'user', content: 'hello' }],
    },
  },
  generateContent: {
    path: '/v1beta/models/demo-chat:generateContent',
    headers: { 'x-goog-api-key': 'key' },
    body: { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] },
  },
} as const;

export type ProtocolName = keyof typeof minimal;
/** The text protocols. */
export const protocolNames = ['chat', 'responses', 'messages', 'generateContent'] as const;

/** JSON as tests read it, with any member. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

export interface ClientResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Json;
}

/** Sends the protocol's minimal body with changes on top; `undefined` removes a field. */
export async function ask(
  simulator: Simulator,
  protocol: ProtocolName,
  changes: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<ClientResponse> {
  const base = minimal[protocol];
  const response = await fetch(simulator.url + base.path, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/json', ...base.headers, ...headers },
    body: JSON.stringify({ ...base.body, ...changes }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parse(text) };
}

/** The same as a stream, its events parsed. */
export async function askStream(
  simulator: Simulator,
  protocol: ProtocolName,
  changes: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<{ readonly text: string; readonly events: Json[] }> {
  const { text } =
    protocol === 'generateContent'
      ? await askGoogleStream(simulator, changes, headers)
      : await ask(simulator, protocol, { stream: true, ...changes }, headers);
  return { text, events: eventsOf(text) };
}

async function askGoogleStream(
  simulator: Simulator,
  changes: Record<string, unknown>,
  headers: Record<string, string>,
) {
  const { body, headers: base } = minimal.generateContent;
  const path = '/v1beta/models/demo-chat:streamGenerateContent?alt=sse';
  const response = await fetch(simulator.url + path, {
    method: 'POST',
    headers: { ...base, ...headers },
    body: JSON.stringify({ ...body, ...changes }),
  });
  return { text: await response.text() };
}

/** The parsed data of every frame but `[DONE]`. */
export function eventsOf(text: string): Json[] {
  return text
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice('data: '.length)));
}

export interface RawResponse {
  readonly status: number | null;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
  readonly chunks: readonly Buffer[];
  /** Ended correctly by HTTP. */
  readonly complete: boolean;
  /** Milliseconds from the request to the head, to the first body byte, and to the end. */
  readonly headAt: number;
  readonly firstAt: number;
  readonly endAt: number;
}

/** Sends with node:http and reports what arrived even when the response broke off. */
export function askRaw(
  simulator: Simulator,
  protocol: ProtocolName,
  changes: Record<string, unknown>,
  headers: Record<string, string>,
  leaveAfterMs?: number,
): Promise<RawResponse> {
  const base = minimal[protocol];
  const start = performance.now();
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let head = { status: null as number | null, headers: {} as RawResponse['headers'], at: 0 };
    let firstAt = 0;
    const finish = (complete: boolean) =>
      resolve({
        status: head.status,
        headers: head.headers,
        body: Buffer.concat(chunks),
        chunks,
        complete,
        headAt: head.at,
        firstAt,
        endAt: performance.now() - start,
      });
    const sent = request(simulator.url + base.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...base.headers, ...headers },
    });
    sent.on('error', () => finish(false));
    sent.on('response', (response) => {
      head = {
        status: response.statusCode ?? null,
        headers: response.headers,
        at: performance.now() - start,
      };
      response.on('data', (chunk: Buffer) => {
        firstAt ||= performance.now() - start;
        chunks.push(chunk);
      });
      response.on('error', () => undefined);
      response.on('close', () => finish(response.complete));
    });
    if (leaveAfterMs !== undefined) setTimeout(() => sent.destroy(), leaveAfterMs);
    sent.end(JSON.stringify({ ...base.body, ...changes }));
  });
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
