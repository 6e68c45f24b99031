import type { RelayInput } from '#relay/index.ts';
import type { ProtocolName } from '#canonical/index.ts';

/** One kind of request, and what its upstream responds. */
export interface Modality {
  readonly name: string;
  /** Of the client. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
  /** The same request with a text of megabytes. */
  readonly largeBody: object;
  readonly input: Pick<RelayInput, 'protocol' | 'operation' | 'pathModel' | 'pathStream'> &
    Readonly<Record<string, unknown>>;
  readonly model: string;
  /** Of both channels. */
  readonly protocols: readonly ProtocolName[];
  readonly response: PlayedResponse;
}

export interface PlayedResponse {
  readonly headers: Readonly<Record<string, string>>;
  /** All of it. */
  readonly pieces: readonly string[];
  /** So many of the pieces come before any content, and so many with the first of it. */
  readonly beforeContent: number;
  readonly withContent: number;
  /** What an upstream sends that fails, where a piece of content is due. */
  readonly failure: readonly string[];
  /** A piece of content that costs more than any hold; for a whole response, all of it. */
  readonly costly: string;
  /** Where the response is kept in memory until it is whole: one for which memory is asked. */
  readonly large?: string;
}

const json = { 'content-type': 'application/json' };
const events = { 'content-type': 'text/event-stream' };
const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const event = (type: string, more: object): string => `event: ${type}\n${data({ type, ...more })}`;
const long = 'all the words '.repeat(120_000);

/** In two pieces: a body that breaks off in the middle. */
function inHalves(body: unknown): string[] {
  const text = JSON.stringify(body);
  const half = text.length / 2;
  return [text.slice(0, half), text.slice(half)];
}

const ofText = { operation: 'generate', pathModel: null, pathStream: null } as const;
const sampled = { framing: 'event-stream', ...ofText } as const;

/* Responses of a chat upstream. */

const chatBase = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'theirs' };
const chatUsage = (output: number) => ({
  prompt_tokens: 9,
  completion_tokens: output,
  total_tokens: 9 + output,
});
const chatBody = (content: string, output: number) => ({
  ...chatBase,
  object: 'chat.completion',
  choices: [
    { index: 0, message: { role: 'assistant', content }, finish_reason: 'stop', logprobs: null },
  ],
  usage: chatUsage(output),
});
const chatChunk = (delta: object, finish: string | null = null, more: object = {}): string =>
  data({
    ...chatBase,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  });

const chatWhole: PlayedResponse = {
  headers: json,
  pieces: inHalves(chatBody('The quick brown fox.', 5)),
  beforeContent: 1,
  withContent: 0,
  failure: [
    JSON.stringify({ error: { message: 'The server had an error', type: 'server_error' } }),
  ],
  costly: JSON.stringify(chatBody('The quick brown fox.', 2_000_000)),
  large: JSON.stringify(chatBody(long, 5)),
};

const chatStreamed: PlayedResponse = {
  headers: events,
  pieces: [
    chatChunk({ role: 'assistant', content: '' }),
    chatChunk({ content: 'The quick' }),
    chatChunk({ content: ' brown fox.' }),
    chatChunk({}, 'stop'),
    data({
      ...chatBase,
      object: 'chat.completion.chunk',
      choices: [],
      usage: chatUsage(5),
    }),
    'data: [DONE]\n\n',
  ],
  beforeContent: 1,
  withContent: 1,
  failure: [data({ error: { message: 'The server had an error', type: 'server_error' } })],
  costly: chatChunk({ content: long }),
};

/* Responses of a Responses upstream. */

const responseBase = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_700_000_000,
  model: 'theirs',
};
const responseUsage = (output: number) => ({
  input_tokens: 9,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 9 + output,
});
const responseItem = (text: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
});
const responseBody = (text: string, output: number) => ({
  ...responseBase,
  status: 'completed',
  output: [responseItem(text)],
  usage: responseUsage(output),
});
const responsePlace = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const responseFailure = { code: 'server_error', message: 'The server had an error' };

const responsesWhole: PlayedResponse = {
  headers: json,
  pieces: inHalves(responseBody('The quick brown fox.', 5)),
  beforeContent: 1,
  withContent: 0,
  failure: [
    JSON.stringify({ ...responseBase, status: 'failed', output: [], error: responseFailure }),
  ],
  costly: JSON.stringify(responseBody('The quick brown fox.', 2_000_000)),
  large: JSON.stringify(responseBody(long, 5)),
};

const responsesStreamed: PlayedResponse = {
  headers: events,
  pieces: [
    event('response.created', {
      sequence_number: 0,
      response: { ...responseBase, status: 'in_progress', output: [] },
    }),
    event('response.output_item.added', {
      sequence_number: 1,
      output_index: 0,
      item: { ...responseItem(''), status: 'in_progress', content: [] },
    }),
    event('response.output_text.delta', {
      sequence_number: 2,
      ...responsePlace,
      delta: 'The quick',
    }),
    event('response.output_text.delta', {
      sequence_number: 3,
      ...responsePlace,
      delta: ' brown fox.',
    }),
    event('response.output_item.done', {
      sequence_number: 4,
      output_index: 0,
      item: responseItem('The quick brown fox.'),
    }),
    event('response.completed', {
      sequence_number: 5,
      response: responseBody('The quick brown fox.', 5),
    }),
  ],
  beforeContent: 2,
  withContent: 1,
  failure: [
    event('response.failed', {
      sequence_number: 4,
      response: { ...responseBase, status: 'failed', output: [], error: responseFailure },
    }),
  ],
  costly: event('response.output_text.delta', {
    sequence_number: 3,
    ...responsePlace,
    delta: long,
  }),
};

/* Pictures, vectors and tasks. */

/** A picture of one pixel. */
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const image = { b64_json: pixel, size: '1024x1024' };
const imagesBody = (images: number, padding = '') => ({
  created: 1_700_000_000,
  data: Array.from({ length: images }, () => ({ ...image, ...(padding && { padding }) })),
});
const imageFailure = { code: 'server_error', message: 'The server had an error' };

const imagesWhole: PlayedResponse = {
  headers: json,
  pieces: inHalves(imagesBody(1)),
  beforeContent: 1,
  withContent: 0,
  failure: [JSON.stringify({ error: imageFailure })],
  costly: JSON.stringify(imagesBody(40)),
  large: JSON.stringify(imagesBody(1, long)),
};

const finalImage = {
  ...image,
  created_at: 1_700_000_000,
  quality: 'high',
  output_format: 'png',
  background: 'opaque',
};

const imagesStreamed: PlayedResponse = {
  headers: events,
  pieces: [
    ': working\n\n',
    event('image_generation.partial_image', { ...finalImage, partial_image_index: 0 }),
    event('image_generation.completed', {
      ...finalImage,
      usage: { input_tokens: 9, output_tokens: 200, total_tokens: 209 },
    }),
    'data: [DONE]\n\n',
  ],
  beforeContent: 1,
  withContent: 1,
  failure: [event('error', { error: imageFailure })],
  costly: Array.from({ length: 40 }, () => event('image_generation.completed', finalImage)).join(
    '',
  ),
  large: event('image_generation.completed', { ...finalImage, padding: long }),
};

const embeddingsBody = (input: number, padding = '') => ({
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [0.25, -0.5, 0.75] }],
  model: 'theirs',
  usage: { prompt_tokens: input, total_tokens: input },
  ...(padding && { padding }),
});

const taskBody = { request_id: 'up_1', output: { task_id: 'task_1', task_status: 'PENDING' } };

const words = (content: string) => [{ role: 'user', content }];
const contents = (text: string) => [{ role: 'user', parts: [{ text }] }];

/** A request that asks about a fox, and a long one. */
const asking = (body: (text: string) => object): Pick<Modality, 'body' | 'largeBody'> => ({
  body: body('Say something about a fox.'),
  largeBody: body(long),
});

export const modalities: readonly Modality[] = [
  {
    name: 'chat',
    path: '/v1/chat/completions',
    ...asking((text) => ({ model: 'demo-chat', messages: words(text) })),
    input: { protocol: 'chat', ...sampled },
    model: 'demo-chat',
    protocols: ['chat'],
    response: chatWhole,
  },
  {
    name: 'chat-streamed',
    path: '/v1/chat/completions',
    ...asking((text) => ({ model: 'demo-chat', messages: words(text), stream: true })),
    input: { protocol: 'chat', ...sampled },
    model: 'demo-chat',
    protocols: ['chat'],
    response: chatStreamed,
  },
  {
    name: 'messages-to-chat',
    path: '/v1/messages',
    ...asking((text) => ({ model: 'demo-chat', max_tokens: 8_000, messages: words(text) })),
    input: { protocol: 'messages', ...sampled },
    model: 'demo-chat',
    protocols: ['chat'],
    response: chatWhole,
  },
  {
    name: 'messages-to-chat-streamed',
    path: '/v1/messages',
    ...asking((text) => ({
      model: 'demo-chat',
      max_tokens: 8_000,
      messages: words(text),
      stream: true,
    })),
    input: { protocol: 'messages', ...sampled },
    model: 'demo-chat',
    protocols: ['chat'],
    response: chatStreamed,
  },
  {
    name: 'contents-to-responses',
    path: '/v1beta/models/demo-chat:generateContent',
    ...asking((text) => ({ contents: contents(text) })),
    input: { protocol: 'generate-content', ...sampled, pathModel: 'demo-chat', pathStream: false },
    model: 'demo-chat',
    protocols: ['responses'],
    response: responsesWhole,
  },
  {
    name: 'contents-to-responses-streamed',
    path: '/v1beta/models/demo-chat:streamGenerateContent?alt=sse',
    ...asking((text) => ({ contents: contents(text) })),
    input: { protocol: 'generate-content', ...sampled, pathModel: 'demo-chat', pathStream: true },
    model: 'demo-chat',
    protocols: ['responses'],
    response: responsesStreamed,
  },
  {
    name: 'embeddings',
    path: '/v1/embeddings',
    ...asking((input) => ({ model: 'demo-embedding', input })),
    input: { protocol: 'embeddings', operation: 'embed', pathModel: null, pathStream: null },
    model: 'demo-embedding',
    protocols: ['embeddings'],
    response: {
      headers: json,
      pieces: inHalves(embeddingsBody(2)),
      beforeContent: 1,
      withContent: 0,
      failure: chatWhole.failure,
      costly: JSON.stringify(embeddingsBody(2_000_000)),
      large: JSON.stringify(embeddingsBody(2, long)),
    },
  },
  {
    name: 'images',
    path: '/v1/images/generations',
    ...asking((prompt) => ({ model: 'demo-image', prompt, size: '1024x1024' })),
    input: { protocol: 'images', form: 'generation', ...ofText },
    model: 'demo-image',
    protocols: ['images'],
    response: imagesWhole,
  },
  {
    name: 'images-streamed',
    path: '/v1/images/generations',
    ...asking((prompt) => ({
      model: 'demo-image',
      prompt,
      size: '1024x1024',
      stream: true,
      partial_images: 1,
    })),
    input: { protocol: 'images', form: 'generation', ...ofText },
    model: 'demo-image',
    protocols: ['images'],
    response: imagesStreamed,
  },
  {
    name: 'picture-through-chat',
    path: '/v1/chat/completions',
    ...asking((text) => ({ model: 'demo-image', messages: words(text) })),
    input: { protocol: 'chat', ...sampled },
    model: 'demo-image',
    protocols: ['images'],
    response: imagesWhole,
  },
  {
    name: 'picture-through-chat-streamed',
    path: '/v1/chat/completions',
    ...asking((text) => ({ model: 'demo-image', messages: words(text), stream: true })),
    input: { protocol: 'chat', ...sampled },
    model: 'demo-image',
    protocols: ['images'],
    response: imagesWhole,
  },
  {
    name: 'video-submit',
    path: '/api/v1/services/aigc/video-generation/video-synthesis',
    headers: { 'x-dashscope-async': 'enable' },
    ...asking((prompt) => ({
      model: 'demo-video-1',
      input: { prompt },
      parameters: { duration: 5 },
    })),
    input: { protocol: 'video-synthesis', ...ofText },
    model: 'demo-video-1',
    protocols: ['video-synthesis'],
    response: {
      headers: json,
      pieces: inHalves(taskBody),
      beforeContent: 1,
      withContent: 0,
      failure: [JSON.stringify({ code: 'InternalError', message: 'The server had an error' })],
      costly: JSON.stringify(taskBody),
    },
  },
];
