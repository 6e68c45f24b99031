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

/** The protocols of the text endpoints. */
export type TextProtocolName = 'chat' | 'responses' | 'messages' | 'generate-content';
