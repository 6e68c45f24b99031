import type { TextProtocolName } from '#canonical/index.ts';
import { type ResponseFeature, inArea, mark, type SaidOf } from './feature.ts';
import { calls } from './calls.ts';

/** Why a response ended, in the client's words: the last that its response says of it. */
const endings: Readonly<Record<TextProtocolName, RegExp>> = {
  chat: /"finish_reason":"(\w+)"/g,
  responses:
    /"incomplete_details":\{"reason":"(\w+)"\}|"type":"response\.(completed)"|"status":"(completed|incomplete)","incomplete_details":null/g,
  messages: /"stop_reason":"(\w+)"/g,
  'generate-content': /"(?:finishReason|blockReason)":"(\w+)"/g,
};

function ended(client: TextProtocolName, response: string): string {
  const last = [...response.matchAll(endings[client])].at(-1) ?? [];
  return last.slice(1).find((word) => word !== undefined) ?? '';
}

const aCall = calls.find(({ name }) => name === 'a call')!.of;

/** An unknown word without usage means that the response broke off. */
const usage = { input_tokens: 5, output_tokens: 9 };

/** Each upstream's reasons, and what the response is that has it. */
const reasons: { readonly [Upstream in TextProtocolName]: Record<string, SaidOf[Upstream]> } = {
  chat: {
    stop: {},
    length: { choice: { finish_reason: 'length' } },
    content_filter: { choice: { finish_reason: 'content_filter' } },
    tool_calls: aCall.chat!,
    'another word': {
      choice: { finish_reason: 'x_unknown' },
      response: { usage: { prompt_tokens: 5, completion_tokens: 9 } },
    },
    LENGTH: { choice: { finish_reason: 'LENGTH' } },
    output_limit_reached: { choice: { finish_reason: 'output_limit_reached' } },
    moderation_blocked: { choice: { finish_reason: 'moderation_blocked' } },
  },
  responses: {
    completed: {},
    'completed, with calls': aCall.responses!,
    'incomplete: max_output_tokens': incomplete('max_output_tokens'),
    'incomplete: content_filter': incomplete('content_filter'),
    'incomplete: another word': incomplete('x_unknown'),
  },
  messages: {
    end_turn: {},
    tool_use: aCall.messages!,
    ...Object.fromEntries(
      [
        'max_tokens',
        'stop_sequence',
        'model_context_window_exceeded',
        'pause_turn',
        'refusal',
        'x_unknown',
      ].map((reason) => [
        reason === 'x_unknown' ? 'another word' : reason,
        { response: { stop_reason: reason, usage } },
      ]),
    ),
    'refusal, nothing said': { content: [], response: { stop_reason: 'refusal' } },
  },
  'generate-content': {
    STOP: {},
    'STOP, with calls': aCall['generate-content']!,
    ...Object.fromEntries(
      [
        'MAX_TOKENS',
        'CONTINUATION',
        'SAFETY',
        'RECITATION',
        'LANGUAGE',
        'BLOCKLIST',
        'PROHIBITED_CONTENT',
        'SPII',
        'IMAGE_SAFETY',
        'OTHER',
      ].map((finishReason) => [finishReason, { candidate: { finishReason } }]),
    ),
    'a refused prompt': {
      response: { candidates: undefined, promptFeedback: { blockReason: 'SAFETY' } },
    },
  },
};

function incomplete(reason: string) {
  return { response: { status: 'incomplete', incomplete_details: { reason }, usage } };
}

const byItsWords = 'taken for what its words say, else for an end';
/** Those that become something else. */
const guessed: Readonly<Record<string, string>> = {
  'another word': byItsWords,
  'incomplete: another word': 'taken for what its words say, else for a limit',
  output_limit_reached: byItsWords,
  moderation_blocked: byItsWords,
  pause_turn: 'an end: only messages can say that the client should continue',
};

const finishes = Object.entries(reasons).flatMap(([upstream, named]) =>
  Object.entries(named).map(([name, said]): Omit<ResponseFeature, 'area'> => ({
    name: name.includes(' ') ? name : `\`${name}\``,
    of: { [upstream]: said },
    told: ended,
    ...(guessed[name] !== undefined && { why: guessed[name] }),
  })),
);

export const whys = inArea('Finish reasons', [
  ...finishes,
  {
    name: 'the stop sequence that was met',
    why: 'only messages reports it',
    harmless: true,
    of: {
      chat: { choice: { finish_reason: 'stop', stop_reason: mark } },
      messages: { response: { stop_reason: 'stop_sequence', stop_sequence: mark } },
    },
  },
  {
    name: 'why it was refused or filtered',
    why: 'the vendor’s own explanation; the fact itself is carried',
    harmless: true,
    of: {
      chat: { choice: { finish_reason: 'content_filter', content_filter_results: { a: mark } } },
      messages: {
        response: {
          stop_reason: 'refusal',
          stop_details: { type: 'refusal', category: mark, explanation: mark },
        },
      },
      'generate-content': { candidate: { finishReason: 'SAFETY', finishMessage: mark } },
    },
  },
]);

/** Which frame tells a client that the response has failed. */
function failed(_client: TextProtocolName, response: string): string {
  const [frame = ''] = response.trimEnd().split('\n\n').slice(-1);
  const named = /^event: (.*)$/m.exec(frame)?.[1];
  return named ?? `{ ${/\{"(\w+)"/.exec(frame)?.[1]} }`;
}

export const failures = inArea('Failures', [
  {
    name: 'an error in the stream',
    told: failed,
    of: {
      chat: { failure: { error: { message: 'no', type: 'server_error', code: 500 } } },
      responses: {
        failure: {
          type: 'response.failed',
          response: { status: 'failed', error: { code: 'server_error', message: 'no' } },
        },
      },
      messages: {
        failure: { type: 'error', error: { type: 'overloaded_error', message: 'no' } },
      },
      'generate-content': {
        parts: [{ text: 'so' }, { text: 'and' }],
        failure: { error: { code: 500, message: 'no', status: 'INTERNAL' } },
      },
    },
  },
]);
