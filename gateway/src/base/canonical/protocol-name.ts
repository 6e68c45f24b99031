/** The wire formats the gateway knows, by the name used in configuration, logs and usage rows. */
export const protocolNames = [
  'chat',
  'responses',
  'messages',
  'generate-content',
  'images',
  'embeddings',
  'video-synthesis',
  'video-contents',
] as const;

export type ProtocolName = (typeof protocolNames)[number];

/** The protocols of the text endpoints. Envelopes name them by their place here: new ones come last. */
export const textProtocolNames = ['chat', 'responses', 'messages', 'generate-content'] as const;

export type TextProtocolName = (typeof textProtocolNames)[number];

/** The protocols in which upstreams draw images. */
export const imageProtocolNames = ['images', 'generate-content'] as const;

export type ImageProtocolName = (typeof imageProtocolNames)[number];

/** The protocols of video tasks. */
export const videoProtocolNames = ['video-synthesis', 'video-contents'] as const;

export type VideoProtocolName = (typeof videoProtocolNames)[number];

/** `gen_ai.operation.name` of a generation, in the GenAI conventions of OpenTelemetry. */
export const telemetryOperation: Readonly<Record<ProtocolName, string>> = Object.freeze({
  chat: 'chat',
  responses: 'chat',
  messages: 'chat',
  'generate-content': 'generate_content',
  images: 'generate_content',
  embeddings: 'embeddings',
  'video-synthesis': 'chat',
  'video-contents': 'chat',
});

/** What a client can ask for that leaves a usage row. */
export type OperationName = TextOperationName | 'embed';

/** The operations of the text endpoints. */
export type TextOperationName = 'generate' | 'count-tokens' | 'compact';
