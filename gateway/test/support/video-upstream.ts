import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * Both vendors of video tasks as a test wants them: whoever submits gets what the test says, tasks end when the test
 * says, and every submit is counted.
 */
export interface VideoUpstream {
  readonly url: string;
  /** Every submit, accepted or not, in order. */
  readonly submits: readonly Submit[];
  /** Looks at single tasks and lists of them. */
  readonly looks: readonly string[];
  /** Decides about the submits from here on. Default: all are accepted. */
  onSubmit: (submit: Submit, response: ServerResponse) => void;
  /** Decides about the looks from here on. Returns whether it has answered. Default: never. */
  onLook: (path: string, response: ServerResponse) => boolean;
  /** The ids of the tasks that were accepted. */
  readonly ids: readonly string[];
  /** All tasks so far are in this state from now on. Until then: running. */
  end(state: VideoEnd): void;
}

export interface Submit {
  readonly dialect: 1 | 2;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  readonly body: Record<string, unknown>;
  /** The response to a submit that is accepted. */
  accept(): string;
}

export interface VideoEnd {
  readonly status: 'queued' | 'running' | 'succeeded' | 'failed';
  /** Seconds or tokens; absent: it is not reported. */
  readonly usage?: number;
  /** Of a task that failed. */
  readonly code?: string;
}

const synthesis = '/api/v1/services/aigc/video-generation/video-synthesis';
const contents = '/api/v3/contents/generations/tasks';

/** Closed with the test. */
export async function startVideoUpstream(): Promise<VideoUpstream> {
  const upstream = await openVideoUpstream();
  onTestFinished(upstream.close);
  return upstream;
}

export async function openVideoUpstream(): Promise<VideoUpstream & { close(): Promise<void> }> {
  const submits: Submit[] = [];
  const looks: string[] = [];
  const states = new Map<string, VideoEnd>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
      if (request.method === 'POST') {
        const submit = submitOf(pathname === contents ? 2 : 1, request, text);
        submits.push(submit);
        if (pathname === contents || pathname === synthesis) upstream.onSubmit(submit, response);
        else response.writeHead(404).end();
        return;
      }
      looks.push(request.url ?? '');
      if (upstream.onLook(request.url ?? '', response)) return;
      if (request.method === 'DELETE') response.end('{}');
      else if (pathname === contents) answerJson(response, listOf(searchParams));
      else answerJson(response, taskOf(pathname));
    });
  });

  const submitOf = (dialect: 1 | 2, { headers }: IncomingMessage, text: string): Submit => ({
    dialect,
    headers,
    text,
    body: JSON.parse(text) as Record<string, unknown>,
    accept() {
      const id = `upstream-${dialect}-${states.size + 1}`;
      states.set(id, { status: 'running' });
      return dialect === 1
        ? JSON.stringify({ output: { task_id: id, task_status: 'PENDING' }, request_id: 'theirs' })
        : JSON.stringify({ id });
    },
  });

  const listOf = (query: URLSearchParams): unknown => {
    const ids = query.getAll('filter.task_ids').flatMap((text) => text.split(','));
    return { total: ids.length, items: ids.map(contentsTask) };
  };

  const contentsTask = (id: string): unknown => {
    const { status = 'running', usage, code = 'Bad' } = states.get(id) ?? {};
    const tokens = { completion_tokens: usage, total_tokens: usage };
    return {
      id,
      model: 'theirs',
      status,
      created_at: 1_795_344_612,
      ...(status === 'succeeded' && { content: { video_url: 'https://videos.test/2.mp4' } }),
      ...(usage !== undefined && { usage: tokens }),
      ...(status === 'failed' && { error: { code, message: 'words of the vendor' } }),
    };
  };

  const taskOf = (pathname: string): unknown => {
    const id = pathname.slice(pathname.lastIndexOf('/') + 1);
    if (pathname.startsWith(contents)) return contentsTask(id);
    const { status = 'unknown', usage, code = 'Bad' } = states.get(id) ?? {};
    return {
      request_id: 'theirs',
      output: {
        task_id: id,
        task_status: status === 'queued' ? 'PENDING' : status.toUpperCase(),
        ...(status === 'succeeded' && { video_url: 'https://videos.test/1.mp4' }),
        ...(status === 'failed' && { code, message: 'words of the vendor' }),
      },
      ...(usage !== undefined && { usage: { duration: usage, video_count: 1, SR: 720 } }),
    };
  };

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const upstream: VideoUpstream & { close(): Promise<void> } = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    submits,
    looks,
    onSubmit: (submit, response) => answerText(response, submit.accept()),
    onLook: () => false,
    get ids() {
      return [...states.keys()];
    },
    end(state) {
      for (const id of states.keys()) states.set(id, state);
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return upstream;
}

function answerJson(response: ServerResponse, body: unknown): void {
  answerText(response, JSON.stringify(body));
}

export function answerText(response: ServerResponse, text: string, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(text);
}

const secondPrice = '{ video_second: { 480P: 0.05, 720P: 0.1, 1080P: 0.15 } }';
const tokenPrice =
  '{ video_tokens: { 480P: { text: 7, with_video: 4 }, 720P: { text: 7, with_video: 4 } } }';

/**
 * YAML: a channel and a model for each dialect.
 * @param more more models, and other parts of the file
 * @param ends of the names of further channels and models, for tests that make channels sick
 */
export function videoConfig(url: string, more = '', ends: readonly string[] = []): string {
  const all = ['', ...ends];
  const lines = (line: (end: string) => string): string => all.map(line).join('\n');
  return `
video: { poll_interval: 1s }
channels:
${lines((end) => `  - { name: first${end}, provider: dashscope, base_url: "${url}/api/v1", api_keys: [secret-one], models: [{ name: one${end}, upstream: theirs-one }] }`)}
${lines((end) => `  - { name: second${end}, provider: ark, base_url: "${url}/api/v3", api_keys: [secret-two], protocols: [video-contents], models: [{ name: two${end}, upstream: theirs-two }] }`)}
models:
${lines((end) => `  - { id: one${end}, type: video, price: ${secondPrice} }`)}
${lines((end) => `  - { id: two${end}, type: video, price: ${tokenPrice} }`)}
${more}`;
}
