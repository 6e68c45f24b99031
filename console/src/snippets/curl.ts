/** The ways in which clients speak to the gateway, each with the body of a smallest request. */
export const protocols = {
  chat: {
    path: () => '/v1/chat/completions',
    body: (model: string, prompt: string) => ({
      model,
      messages: [{ role: 'user', content: prompt }],
    }),
  },
  messages: {
    path: () => '/v1/messages',
    body: (model: string, prompt: string) => ({
      model,
      max_tokens: 1_024,
      messages: [{ role: 'user', content: prompt }],
    }),
  },
  responses: {
    path: () => '/v1/responses',
    body: (model: string, prompt: string) => ({ model, input: prompt }),
  },
  'generate-content': {
    path: (model: string) => `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
    body: (_model: string, prompt: string) => ({
      contents: [{ role: 'user', parts: [{ text: prompt }] }],
    }),
  },
  images: {
    path: () => '/v1/images/generations',
    body: (model: string, prompt: string) => ({ model, prompt }),
  },
  embeddings: {
    path: () => '/v1/embeddings',
    body: (model: string, prompt: string) => ({ model, input: prompt }),
  },
  videos: {
    path: () => '/v1/videos',
    body: (model: string, prompt: string) => ({ model, prompt }),
  },
} as const;
export type SnippetProtocol = keyof typeof protocols;

/** Stands for the secret in what is shown and copied. */
export const keyPlaceholder = '$SLUICE_KEY';

interface CurlCall {
  /** Of the gateway. */
  readonly url: string;
  readonly path: string;
  readonly body: object;
  /** What the header has after `Bearer`; a shell fills in the placeholder. */
  readonly key?: string;
  /** Whether the response is shown as it comes. */
  readonly isStreamed?: boolean;
}

/** A command that a shell runs as it stands. */
export function curlOf({ url, path, body, key = keyPlaceholder, isStreamed }: CurlCall): string {
  return [
    `curl ${isStreamed === true ? '-N ' : ''}${url}${path}`,
    `  -H "authorization: Bearer ${key}"`,
    `  -H 'content-type: application/json'`,
    `  -d '${JSON.stringify(body).replaceAll("'", String.raw`'\''`)}'`,
  ].join(' \\\n');
}

/** The protocols in which a model of this type is asked. */
export function protocolsOf(type: 'chat' | 'image' | 'video' | 'embedding'): SnippetProtocol[] {
  if (type === 'chat') return ['chat', 'messages', 'responses', 'generate-content'];
  if (type === 'image') return ['images'];
  return type === 'video' ? ['videos'] : ['embeddings'];
}

/** The smallest request of the kind; null: no line can repeat what was asked. */
export function curlLike(
  { protocol, model, stream }: { protocol: string; model: string; stream: boolean },
  url: string,
): string | null {
  if (!Object.hasOwn(protocols, protocol)) return null;
  const { path, body } = protocols[protocol as SnippetProtocol];
  const isMember = stream && protocol !== 'generate-content';
  return curlOf({
    url,
    path: stream && !isMember ? streamed(path(model)) : path(model),
    body: { ...body(model, 'Hello!'), ...(isMember && { stream: true }) },
    isStreamed: stream,
  });
}

/** This protocol names the stream in the path. */
const streamed = (path: string) =>
  path.replace(/:generateContent$/, ':streamGenerateContent?alt=sse');
