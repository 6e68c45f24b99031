import { terminators, type Protocol } from './prepared-responses.ts';
import type { Load } from './load.ts';
import { benchKey } from './targets.ts';

interface Wanted {
  readonly protocol: Protocol;
  readonly stream: boolean;
  /** Roughly the bytes of the body. */
  readonly size: number;
  /** Characters of base64 of an image beside the text; chat only. */
  readonly image?: number;
  /** The model as the client writes it; the catalogue of gateway.yaml knows it. */
  readonly model: string;
  /** Default: the one of gateway.yaml. */
  readonly key?: string;
}

/** The load of one row for a target on `port`. */
export function loadFor(port: number, wanted: Wanted): Load {
  const { protocol, stream, size, image, model, key = benchKey } = wanted;
  const content = image === undefined ? prose(size) : withImage(prose(size), image);
  const body = Buffer.from(JSON.stringify(bodies[protocol](model, stream, content)));
  const head =
    `POST ${requestPath(protocol, model, stream)} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n` +
    `authorization: Bearer ${key}\r\ncontent-type: application/json\r\naccept: */*\r\n` +
    `user-agent: sluice-bench\r\ncontent-length: ${body.length}\r\n\r\n`;
  const request = Buffer.concat([Buffer.from(head), body]);
  return { port, request, terminator: stream ? terminators[protocol] : '"finish_reason":"stop"' };
}

/** The catalogue's model that only a channel of this one protocol serves. */
export function onlyModelOf(protocol: Protocol): string {
  return `bench-${protocol}`;
}

/** The catalogue's model that a channel of this protocol serves. */
export function modelOf(protocol: Protocol): string {
  return protocol === 'chat' || protocol === 'responses' ? 'bench' : onlyModelOf(protocol);
}

function requestPath(protocol: Protocol, model: string, stream: boolean): string {
  if (protocol === 'chat') return '/v1/chat/completions';
  if (protocol !== 'generate-content') return `/v1/${protocol}`;
  const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return `/v1beta/models/${model}:${method}`;
}

type Content = string | readonly object[];

const bodies: Readonly<
  Record<Protocol, (model: string, stream: boolean, text: Content) => object>
> = {
  // The client asks for the usage itself, as coding agents do.
  chat: (model, stream, text) => ({
    model,
    stream,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
    messages: [
      { role: 'system', content: 'You are a helpful assistant.' },
      { role: 'user', content: text },
    ],
    temperature: 0.7,
    max_tokens: 1024,
  }),
  messages: (model, stream, text) => ({
    model,
    stream,
    max_tokens: 1024,
    system: 'You are a helpful assistant.',
    messages: [{ role: 'user', content: text }],
  }),
  responses: (model, stream, text) => ({
    model,
    stream,
    instructions: 'You are a helpful assistant.',
    input: [{ role: 'user', content: text }],
    max_output_tokens: 1024,
  }),
  'generate-content': (_, __, text) => ({
    contents: [{ role: 'user', parts: [{ text }] }],
    generationConfig: { maxOutputTokens: 1024 },
  }),
};

/** Nothing decodes it, so it may be any base64. */
function withImage(text: string, length: number): Content {
  const url = `data:image/png;base64,${'iVBORw0K'.repeat(Math.round(length / 8))}`;
  return [
    { type: 'text', text },
    { type: 'image_url', image_url: { url } },
  ];
}

/** Text with quotes, line ends and letters beyond ASCII, as prompts have, so that a parser has work. */
function prose(size: number): string {
  const sentence = 'She said "naïve façade" — then the quick brown fox\njumped over 13 lazy dogs. ';
  const overhead = 280;
  return sentence.repeat(Math.max(1, Math.round((size - overhead) / 85)));
}
