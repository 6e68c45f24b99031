import type { TestGateway } from '#test/support/gateway.ts';
import { demoSecrets, type DemoKey } from './config.ts';

interface Asked {
  readonly key: DemoKey;
  readonly userAgent: string;
  readonly path: string;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Leaves when the response has begun. */
  readonly leaves?: true;
}

const context = 'The repository has three packages and a long history. '.repeat(400);
const cached = { type: 'text', text: context, cache_control: { type: 'ephemeral' } };
const user = (content: unknown) => ({ role: 'user', content });
const chat = (model: string, more: object = {}) => ({
  path: '/v1/chat/completions',
  body: { model, messages: [user('Which of the two functions is called first?')], ...more },
});
const messages = (model: string, content: unknown, more: object = {}) => ({
  path: '/v1/messages',
  headers: { 'anthropic-version': '2023-06-01' },
  body: { model, max_tokens: 2_000, system: [cached], messages: [user(content)], ...more },
});

const claude = { key: 'laptop', userAgent: 'claude-cli/2.1.0 (external, cli)' } as const;
const openai = { key: 'ci', userAgent: 'OpenAI/Python 2.9.0' } as const;
const webui = { key: 'webui', userAgent: 'Open-WebUI/0.7' } as const;
const curl = { key: 'laptop', userAgent: 'curl/8.14.1' } as const;

/** One of each kind that a list of requests can have, the most ordinary ones last. */
const asked: readonly Asked[] = [
  { ...curl, ...chat('claude-sonet-5') },
  { ...openai, ...chat('claude-opus-4-8') },
  { ...curl, ...chat('gpt-oss-120b') },
  { ...curl, ...chat('mistral-edge', { stream: true }) },
  { ...webui, ...chat('llama-405b', { stream: true }), leaves: true },
  { ...webui, ...chat('phi-local') },
  { ...webui, ...chat('llama-fast') },
  { ...curl, ...chat('qwen3-coder', { stream: true }) },
  { ...curl, ...chat('demo-reasoning', { stream: true }) },
  {
    ...curl,
    path: '/v1/images/generations',
    body: { model: 'demo-image', prompt: 'A lighthouse', size: '1024x1024', n: 2 },
  },
  { ...claude, ...chat('gpt-5', { stream: true, top_k: 40 }), key: 'laptop' },
  // Another protocol than the upstream's: what cannot be carried over is among the losses.
  { ...claude, ...messages('gpt-5', 'And this?', { top_k: 40 }) },
  {
    key: 'search',
    userAgent: 'OpenAI/Python 2.9.0',
    path: '/v1/embeddings',
    body: { model: 'text-embedding-3-large', input: context },
  },
  { ...webui, ...chat('gemini-2.5-flash', { stream: true }) },
  {
    ...claude,
    ...messages('claude-sonnet-5', 'Go on.', {
      stream: true,
      messages: [
        user([cached]),
        { role: 'assistant', content: 'I see.' },
        user([{ ...cached, text: 'Go on.' }]),
      ],
    }),
  },
  { ...openai, ...chat('gpt-5-mini') },
];

/** Sends one request of each kind, and a video, so that every kind of row exists. */
export async function sendRealRequests(gateway: TestGateway): Promise<void> {
  for (const each of asked) await send(gateway, each);
  const submit = await send(gateway, {
    ...curl,
    path: '/api/v1/services/aigc/video-generation/video-synthesis',
    headers: { 'x-dashscope-async': 'enable' },
    body: {
      model: 'demo-video-1',
      input: { prompt: 'A lighthouse' },
      parameters: { resolution: '720P', duration: 5 },
    },
  });
  const { output } = JSON.parse(submit) as { output: { task_id: string } };
  for (;;) {
    const response = await fetch(`${gateway.url}/api/v1/tasks/${output.task_id}`, {
      headers: { authorization: `Bearer ${demoSecrets.laptop}` },
    });
    const { output: task } = (await response.json()) as { output: { task_status: string } };
    if (task.task_status === 'SUCCEEDED') break;
    if (task.task_status === 'FAILED') throw new Error('the video failed');
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  await gateway.usage(1);
}

async function send({ url }: TestGateway, sent: Asked): Promise<string> {
  const leaving = new AbortController();
  const response = await fetch(url + sent.path, {
    method: 'POST',
    signal: leaving.signal,
    headers: {
      authorization: `Bearer ${demoSecrets[sent.key]}`,
      'content-type': 'application/json',
      'user-agent': sent.userAgent,
      ...sent.headers,
    },
    body: JSON.stringify(sent.body),
  });
  if (sent.leaves === true) {
    await response.body?.getReader().read();
    leaving.abort();
    return '';
  }
  try {
    return await response.text();
  } catch {
    // Some upstreams tear their responses.
    return '';
  }
}
