import { expect } from 'vitest';
import type { UsageEntry } from '#usage/index.ts';
import { testKey, type TestGateway } from '../support/gateway.ts';

/** How clients of a dialect submit a task and look at it. */
export interface Dialect {
  readonly name: 'video-synthesis' | 'video-contents';
  readonly model: string;
  readonly submitPath: string;
  readonly headers: Readonly<Record<string, string>>;
  body(model: string, asked?: Asked): Record<string, unknown>;
  taskPath(id: string): string;
  idOf(response: Record<string, unknown>): string;
  stateOf(task: Record<string, unknown>): unknown;
  readonly states: Readonly<Record<'succeeded' | 'failed', string>>;
  /** The error's code and message. */
  errorOf(body: Record<string, unknown>): readonly [code: unknown, message: unknown];
}

export interface Asked {
  readonly resolution?: string;
  readonly seconds?: number;
  readonly prompt?: string;
}

type Body = Record<string, Record<string, unknown>>;

export const synthesis: Dialect = {
  name: 'video-synthesis',
  model: 'one',
  submitPath: '/v1/services/aigc/video-generation/video-synthesis',
  headers: { 'x-dashscope-async': 'enable' },
  body: (model, { resolution, seconds, prompt = 'a boat' } = {}) => ({
    model,
    input: { prompt },
    parameters: { resolution, duration: seconds },
  }),
  taskPath: (id) => `/v1/tasks/${id}`,
  idOf: (response) => (response as Body)['output']?.['task_id'] as string,
  stateOf: (task) => (task as Body)['output']?.['task_status'],
  states: { succeeded: 'SUCCEEDED', failed: 'FAILED' },
  errorOf: ({ code, message }) => [code, message],
};

export const contents: Dialect = {
  name: 'video-contents',
  model: 'two',
  submitPath: '/api/v3/contents/generations/tasks',
  headers: {},
  body: (model, { resolution, seconds, prompt = 'a boat' } = {}) => ({
    model,
    content: [{ type: 'text', text: prompt }],
    resolution,
    duration: seconds,
  }),
  taskPath: (id) => `/api/v3/contents/generations/tasks/${id}`,
  idOf: (response) => response['id'] as string,
  stateOf: (task) => task['status'],
  states: { succeeded: 'succeeded', failed: 'failed' },
  errorOf: (body) => {
    const { code, message } = (body as Body)['error'] ?? {};
    return [code, message];
  },
};

export const dialects: readonly Dialect[] = [synthesis, contents];

export interface VideoResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Record<string, unknown>;
  /** The `x-request-id`. */
  readonly requestId: string;
}

/** Any call with a key. */
export async function callVideo(
  url: string,
  path: string,
  { method = 'GET', body, headers = {}, key = testKey }: VideoCallOptions = {},
): Promise<VideoResponse> {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: JSON.parse(text) as Record<string, unknown>,
    requestId: response.headers.get('x-request-id') ?? '',
  };
}

export interface VideoCallOptions {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string;
}

export function submitVideo(
  url: string,
  dialect: Dialect,
  { model = dialect.model, ...asked }: Asked & { model?: string } = {},
  options: VideoCallOptions = {},
): Promise<VideoResponse> {
  return callVideo(url, dialect.submitPath, {
    method: 'POST',
    body: dialect.body(model, asked),
    ...options,
    headers: { ...dialect.headers, ...options.headers },
  });
}

/** Submits a task that must be accepted. @returns its id */
export async function submitted(
  url: string,
  dialect: Dialect,
  asked: Asked & { model?: string } = {},
  options: VideoCallOptions = {},
): Promise<{ id: string; requestId: string }> {
  const response = await submitVideo(url, dialect, asked, options);
  expect([response.status, response.text]).toEqual([200, expect.any(String)]);
  return { id: dialect.idOf(response.json), requestId: response.requestId };
}

export function lookAt(
  url: string,
  dialect: Dialect,
  id: string,
  options: VideoCallOptions = {},
): Promise<VideoResponse> {
  return callVideo(url, dialect.taskPath(id), options);
}

/** Looks until the task has ended like this. */
export async function awaitEnd(
  url: string,
  dialect: Dialect,
  id: string,
  end: keyof Dialect['states'] = 'succeeded',
  options: VideoCallOptions = {},
): Promise<Record<string, unknown>> {
  let last: Record<string, unknown> = {};
  await expect
    .poll(
      async () => {
        last = (await lookAt(url, dialect, id, options)).json;
        return dialect.stateOf(last);
      },
      { timeout: 20_000, interval: 100 },
    )
    .toBe(dialect.states[end]);
  return last;
}

/** Nano-USD that are held on the meters. */
export async function heldOf({ app }: Pick<TestGateway, 'app'>): Promise<bigint> {
  const { kysely } = app.database;
  const rows = await kysely.selectFrom('spent_totals').select('held').execute();
  return rows.reduce((sum, { held }) => sum + held, 0n);
}

export async function rowsOf(gateway: TestGateway, id: string): Promise<UsageEntry[]> {
  return (await gateway.usage()).filter((row) => row.id === id);
}
