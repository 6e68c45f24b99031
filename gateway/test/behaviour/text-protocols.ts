/** The four text protocols as clients see them, written without the gateway's own code. */
export interface TextProtocol {
  readonly name: 'chat' | 'responses' | 'messages' | 'generate-content';
  path(model: string, stream: boolean): string;
  body(model: string, stream: boolean, text?: string): Record<string, unknown>;
  /** The success terminator of a streamed response. */
  readonly terminator: RegExp;
  /** The error frame that ends a broken stream. */
  readonly errorFrame: RegExp;
  /** How many events of the simulator's ordinary response come before the first with content. */
  readonly eventsBeforeContent: number;
  /** The message of an error body that has this protocol's shape and nothing else; throws when it has not. */
  errorMessage(body: unknown): string;
}

export const textProtocols: readonly TextProtocol[] = [
  {
    name: 'chat',
    path: () => '/v1/chat/completions',
    body: (model, stream, text = 'hello') => ({
      model,
      ...(stream && { stream }),
      messages: [{ role: 'user', content: text }],
    }),
    terminator: /^data: \[DONE\]$/m,
    errorFrame:
      /^data: \{"error":\{"message":"[^"]+","type":"[a-z_]+","param":null,"code":"[a-z_]+"\}\}$/m,
    eventsBeforeContent: 1,
    errorMessage: openAiMessage,
  },
  {
    name: 'responses',
    path: () => '/v1/responses',
    body: (model, stream, text = 'hello') => ({ model, ...(stream && { stream }), input: text }),
    terminator: /"type":"response\.(completed|incomplete)"/,
    errorFrame: /^event: response\.failed\ndata: \{"type":"response\.failed",.*"status":"failed"/m,
    eventsBeforeContent: 4,
    errorMessage: openAiMessage,
  },
  {
    name: 'messages',
    path: () => '/v1/messages',
    body: (model, stream, text = 'hello') => ({
      model,
      max_tokens: 1000,
      ...(stream && { stream }),
      messages: [{ role: 'user', content: text }],
    }),
    terminator: /^event: message_stop$/m,
    errorFrame:
      /^event: error\ndata: \{"type":"error","error":\{"type":"[a-z_]+","message":"[^"]+"\},"request_id":"req_/m,
    eventsBeforeContent: 3,
    errorMessage(body) {
      const { type, error, request_id: id, ...rest } = fields(body);
      const { type: errorType, message, ...more } = fields(error);
      const extra = [...Object.keys(rest), ...Object.keys(more)];
      if (type !== 'error' || typeof errorType !== 'string' || extra.length > 0) throw shape(body);
      if (typeof id !== 'string' || !id.startsWith('req_')) throw shape(body);
      return String(message);
    },
  },
  {
    name: 'generate-content',
    path: (model, stream) =>
      `/v1beta/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: (_model, _stream, text = 'hello') => ({
      contents: [{ role: 'user', parts: [{ text }] }],
    }),
    terminator: /"finishReason":"/,
    errorFrame: /^data: \{"error":\{"code":\d{3},"message":"[^"]+","status":"[A-Z_]+"/m,
    eventsBeforeContent: 0,
    errorMessage(body) {
      const { error, ...rest } = fields(body);
      const { code, message, status, details, ...more } = fields(error);
      const extra = [...Object.keys(rest), ...Object.keys(more)];
      if (typeof code !== 'number' || typeof status !== 'string' || extra.length > 0) {
        throw shape(body);
      }
      if (!Array.isArray(details)) throw shape(body);
      return String(message);
    },
  },
];

/** Streamed and whole, for `test.each`. */
export const eachCall = textProtocols.flatMap((protocol) =>
  [true, false].map((stream) => ({ protocol, stream, name: nameOf(protocol, stream) })),
);

export function nameOf(protocol: TextProtocol, stream: boolean): string {
  return `${protocol.name} ${stream ? 'streamed' : 'whole'}`;
}

/** Whether a response begins with `hello` quoted by the simulator. */
export function answeredText(text: string): boolean {
  return text.includes('You said');
}

function openAiMessage(body: unknown): string {
  const { error, ...rest } = fields(body);
  const { message, type, param, code, ...more } = fields(error);
  const extra = [...Object.keys(rest), ...Object.keys(more)];
  if (typeof type !== 'string' || param === undefined || code === undefined || extra.length > 0) {
    throw shape(body);
  }
  return String(message);
}

function fields(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw shape(value);
  return value as Record<string, unknown>;
}

function shape(body: unknown): Error {
  return new Error(`not the protocol's error shape: ${JSON.stringify(body)}`);
}
