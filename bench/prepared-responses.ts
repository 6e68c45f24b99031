/** Synthetic upstream responses of fixed size, as bytes ready to be written. */

export const protocols = ['chat', 'messages', 'responses', 'generate-content'] as const;
export type Protocol = (typeof protocols)[number];

/** Events of a streamed response, not counting the success terminator (`[DONE]`) of chat. */
export const eventsPerStream = 50;

/**
 * Marks the last content event. The upstream writes the time of sending over the digits (microseconds of the machine's
 * monotonic clock), so that the client knows how long the end of a response was in flight.
 */
export const stampMark = '@t';
export const stampDigits = 16;
const stampText = stampMark + '0'.repeat(stampDigits);

export interface PreparedResponse {
  readonly head: string;
  /**
   * As an upstream sends them: first everything up to the first content, then one event each, at the end the last
   * content with everything that ends the response.
   */
  readonly pieces: readonly string[];
}

const text = 'The quick brown fox jumps over the lazy dog. ';
const someWords = text.slice(0, 14);
const usage = { prompt_tokens: 300, completion_tokens: 60, total_tokens: 360 };

const streamHead =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n' +
  'transfer-encoding: chunked\r\n\r\n';

/** A complete JSON response of the chat protocol, about 0.7 KB. */
export function jsonResponse(): PreparedResponse {
  const body = JSON.stringify({
    id: 'chatcmpl-bench0123456789',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'bench',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: text.repeat(9), refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage,
  });
  const length = Buffer.byteLength(body);
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
  return { head, pieces: [body] };
}

/** An answer with a picture of 10 MB. */
export function imageResponse(): PreparedResponse {
  const body = JSON.stringify({
    created: 1_700_000_000,
    data: [{ b64_json: Buffer.alloc(10_000_000, 'a picture').toString('base64') }],
    size: '1024x1024',
    usage: {
      input_tokens: 100,
      output_tokens: 1_056,
      total_tokens: 1_156,
      input_tokens_details: { text_tokens: 100, image_tokens: 0 },
    },
  });
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  return { head, pieces: [body] };
}

/** A streamed response of `eventsPerStream` events. */
export function streamResponse(protocol: Protocol): PreparedResponse {
  const events = builders[protocol]();
  const first = events.findIndex((event) => event.includes(someWords)) + 1;
  const last = events.findLastIndex((event) => event.includes(stampText));
  const lead = events.slice(0, first).join('');
  const pieces = [lead, ...events.slice(first, last), events.slice(last).join('')];
  return { head: streamHead, pieces };
}

/** What the body of a complete streamed response contains at its very end. */
export const terminators: Readonly<Record<Protocol, string>> = {
  chat: 'data: [DONE]\n\n',
  messages: 'data: {"type":"message_stop"}\n\n',
  responses: '"status":"completed"',
  'generate-content': '"finishReason":"STOP"',
};

const builders: Readonly<Record<Protocol, () => string[]>> = {
  chat() {
    const chunk = (choices: unknown[], more: object = {}) =>
      frame({
        id: 'chatcmpl-bench0123456789',
        object: 'chat.completion.chunk',
        created: 1_700_000_000,
        model: 'bench',
        system_fingerprint: 'fp_bench',
        choices,
        ...more,
      });
    const delta = (content: object, reason: string | null = null) =>
      chunk([{ index: 0, delta: content, logprobs: null, finish_reason: reason }]);
    return [
      delta({ role: 'assistant', content: '' }),
      ...deltas(3).map((content) => delta({ content })),
      delta({}, 'stop'),
      chunk([], { usage }) + terminators.chat,
    ];
  },
  messages() {
    const tokens = { input_tokens: 300, output_tokens: 60 };
    const event = (type: string, more: object = {}) => named(type, { type, ...more });
    const message = { id: 'msg_bench', type: 'message', role: 'assistant', model: 'bench' };
    return [
      event('message_start', {
        message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage: tokens },
      }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      ...deltas(5).map((part) =>
        event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: part } }),
      ),
      event('content_block_stop', { index: 0 }),
      event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: tokens }),
      event('message_stop'),
    ];
  },
  responses() {
    let sequence = 0;
    const event = (type: string, more: object) =>
      named(type, { type, sequence_number: sequence++, ...more });
    const response = (status: string) => ({ id: 'resp_bench', object: 'response', status });
    const at = { item_id: 'msg_bench', output_index: 0, content_index: 0 };
    const item = { id: 'msg_bench', type: 'message', role: 'assistant', content: [] };
    return [
      event('response.created', { response: response('in_progress') }),
      event('response.output_item.added', { output_index: 0, item }),
      ...deltas(4).map((delta) => event('response.output_text.delta', { ...at, delta })),
      event('response.output_item.done', { output_index: 0, item }),
      event('response.completed', {
        response: {
          ...response('completed'),
          model: 'bench',
          output: [item],
          usage: { input_tokens: 300, output_tokens: 60, total_tokens: 360 },
        },
      }),
    ];
  },
  'generate-content'() {
    const chunk = (part: string, more: object = {}) =>
      frame({
        candidates: [{ content: { role: 'model', parts: [{ text: part }] }, index: 0, ...more }],
        usageMetadata: { promptTokenCount: 300, candidatesTokenCount: 60, totalTokenCount: 360 },
        modelVersion: 'bench',
        responseId: 'bench',
      });
    return deltas(0).map((part) =>
      chunk(part, part.includes(stampText) ? { finishReason: 'STOP' } : {}),
    );
  },
};

/** Content parts for a stream in which `others` events carry none; the last one is stamped. */
function deltas(others: number): string[] {
  const count = eventsPerStream - others;
  return Array.from({ length: count }, (_, at) => (at === count - 1 ? stampText : someWords));
}

function frame(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function named(event: string, data: object): string {
  return `event: ${event}\n${frame(data)}`;
}
