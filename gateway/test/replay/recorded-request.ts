import type { Recording } from '../recordings/recordings.ts';

/** What a client sends to get a recording replayed. */
export interface RecordedRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly model: string;
}

/** For the recordings that do not say which model answered. */
const unnamed = 'recorded-model';

const paths = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
} as const;

/** What is sent where the request was not recorded. */
const minimal = {
  chat: { messages: [{ role: 'user', content: 'hello' }] },
  responses: { input: 'hello' },
  messages: { max_tokens: 1024, messages: [{ role: 'user', content: 'hello' }] },
  'generate-content': { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] },
} as const;

/**
 * The recorded request as this gateway's client would put it. Only the model's name (under `model`, for gateways
 * that serve the recording under another one) and `stream` (where the response shows otherwise) differ.
 */
export function requestOf(recording: Recording, model = modelOf(recording)): RecordedRequest {
  const { protocol, endpoint } = recording;
  const recorded = recording.request ?? minimal[protocol];
  if (protocol === 'generate-content') {
    const action = /:(\w+)/.exec(endpoint.slice(endpoint.indexOf('/models/')))?.[1];
    const query = isStream(recording) ? '?alt=sse' : '';
    const path = `/v1beta/models/${encodeURIComponent(model)}:${action}${query}`;
    return { path, body: recorded, model };
  }
  const { stream: _, ...rest } = recorded as Record<string, unknown>;
  const counts = endpoint.endsWith('/count_tokens') ? '/count_tokens' : '';
  return {
    path: paths[protocol] + counts,
    body: { ...rest, model, ...(isStream(recording) && { stream: true }) },
    model,
  };
}

export function isStream(recording: Recording): recording is Recording & { sse: string } {
  return typeof recording.sse === 'string';
}

export function modelOf({ protocol, request, endpoint }: Recording): string {
  const inPath = /\/models\/([^:?]+)/.exec(endpoint)?.[1];
  const named = protocol === 'generate-content' ? inPath : (request?.['model'] ?? inPath);
  return typeof named === 'string' && !named.startsWith('{') ? named : unnamed;
}

/** The client itself asked for the usage chunk of a chat stream. */
export function asksForUsage({ request }: Recording): boolean {
  const options = request?.['stream_options'] as { include_usage?: unknown } | null | undefined;
  return options?.include_usage === true;
}
