import { afterAll, describe, expect, test } from 'vitest';
import { ask, attemptsOf, closedPort, rowOf, shareGateway } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { describeServed, pairs, type ProtocolName } from './gateway.ts';
import { startRefusingUpstream, type Refusal } from './refusing-upstream.ts';

interface Expected {
  readonly status: number;
  readonly message: RegExp;
  /** In the words of OpenAI and Anthropic, which are alike, and of Google. */
  readonly kinds: readonly [type: string, googleStatus: string];
  readonly retryAfter?: string;
}

const invalid = ['invalid_request_error', 'INVALID_ARGUMENT'] as const;
const abnormal: Expected = {
  status: 502,
  message: /^upstream response abnormal$/,
  kinds: ['api_error', 'UNAVAILABLE'],
};
/** Who has to act is said behind the same beginning. */
const credentialRefused: Expected = {
  ...abnormal,
  message: /^upstream response abnormal: .* only the operator of this gateway can fix that$/,
};
const overloaded: Expected = {
  status: 529,
  message: /^service overloaded, please retry later$/,
  kinds: ['overloaded_error', 'UNAVAILABLE'],
};

/** What an upstream says before anything else, and what every client gets in its own shape. */
const refusals: Readonly<Record<string, Refusal & { readonly expected: Expected }>> = {
  'context-too-long': {
    status: 400,
    words: {
      openai: 'context_length_exceeded',
      anthropic: 'invalid_request_error',
      google: 'INVALID_ARGUMENT',
    },
    message: 'prompt is too long: the input token count exceeds the maximum',
    expected: { status: 400, message: /^prompt is too long/, kinds: invalid },
  },
  'content-policy': {
    status: 400,
    words: {
      openai: 'content_policy_violation',
      anthropic: 'invalid_request_error',
      google: 'INVALID_ARGUMENT',
    },
    message: 'refused by the content_filter',
    expected: { status: 400, message: /^content_policy_violation$/, kinds: invalid },
  },
  'bad-field': {
    status: 400,
    words: {
      openai: 'invalid_value',
      anthropic: 'invalid_request_error',
      google: 'INVALID_ARGUMENT',
    },
    message: 'nobody likes this',
    expected: { status: 400, message: /^the model rejected the request/, kinds: invalid },
  },
  'wrong-credential': {
    status: 401,
    words: {
      openai: 'invalid_api_key',
      anthropic: 'authentication_error',
      google: 'UNAUTHENTICATED',
    },
    message: 'who are you',
    expected: credentialRefused,
  },
  'not-permitted': {
    status: 403,
    words: { openai: 'forbidden', anthropic: 'permission_error', google: 'PERMISSION_DENIED' },
    message: 'not in your region',
    expected: abnormal,
  },
  'no-such-model': {
    status: 404,
    words: { openai: 'model_not_found', anthropic: 'not_found_error', google: 'NOT_FOUND' },
    message: 'no such model',
    expected: {
      status: 400,
      message: /^model '[\w-]+' is not available, please use a different model$/,
      kinds: invalid,
    },
  },
  'too-many': {
    status: 429,
    words: {
      openai: 'rate_limit_exceeded',
      anthropic: 'rate_limit_error',
      google: 'RESOURCE_EXHAUSTED',
    },
    message: 'slow down',
    retryAfter: 7,
    expected: {
      status: 429,
      message: /^quota exhausted, please retry later/,
      kinds: ['rate_limit_error', 'RESOURCE_EXHAUSTED'],
      retryAfter: '7',
    },
  },
  broken: {
    status: 500,
    words: { openai: 'server_error', anthropic: 'api_error', google: 'INTERNAL' },
    message: 'oh no',
    expected: abnormal,
  },
  unavailable: {
    status: 503,
    words: {
      openai: 'server_is_overloaded',
      anthropic: 'overloaded_error',
      google: 'UNAVAILABLE',
    },
    message: 'busy',
    expected: overloaded,
  },
  overloaded: {
    status: 529,
    words: {
      openai: 'server_is_overloaded',
      anthropic: 'overloaded_error',
      google: 'UNAVAILABLE',
    },
    message: 'busy',
    expected: overloaded,
  },
};

/** Invalid responses, before the client has been shown anything. */
const unreadable = ['html', 'garbage', 'empty', 'close-at=0', 'cut-at=0', 'refuse'];
/** Where nobody listens, and where a response ends in its middle. */
const brokenOff = {
  unreachable: { base: `http://127.0.0.1:${await closedPort()}` },
  unfinished: { at: '/fault(cut-at=1)' },
};
/** Errors inside a stream, by the status whose class they have. */
const inStream = [429, 500, 529];

const refusing = await startRefusingUpstream(refusals);
afterAll(() => refusing.close());

/** A channel of its own for every case: faults count against a channel. */
const named = (kind: string, client: ProtocolName, upstream: ProtocolName, stream: boolean) =>
  `${kind.replace('=', '-')}-${client}-${upstream}-${stream ? 'streamed' : 'whole'}`;

const shared = shareGateway({
  config: describeServed(
    pairs.flatMap(({ client, upstream }) => {
      const served = (name: string, more: { at?: string; base?: string; rank?: number }) => ({
        name: more.rank === 0 ? `spare-${name}` : name,
        protocols: [upstream],
        models: [[name, 'demo-chat']] as const,
        ...(more.at !== undefined && { at: more.at }),
        more: {
          ...(more.base !== undefined && { base_url: more.base }),
          ...(more.rank !== undefined && { priority: more.rank }),
        },
      });
      return [true, false].flatMap((stream) => [
        ...Object.keys(refusals).map((kind) =>
          served(named(kind, client.name, upstream, stream), { base: `${refusing.url}/${kind}` }),
        ),
        ...unreadable.map((fault) =>
          served(named(fault, client.name, upstream, stream), { at: `/fault(${fault})` }),
        ),
        ...inStream.map((status) =>
          served(named(`inside-${status}`, client.name, upstream, stream), {}),
        ),
        ...Object.entries(brokenOff).flatMap(([kind, place]) => {
          const name = named(`spared-${kind}`, client.name, upstream, stream);
          return [served(name, { ...place, rank: 1 }), served(name, { rank: 0 })];
        }),
      ]);
    }),
  ),
});

/** What kind of error a body says it is, in its protocol's words. */
function kindOf(client: ProtocolName, body: unknown): string {
  const { error } = body as { error: { type: string; status: string } };
  return client === 'generate-content' ? error.status : error.type;
}

const calls = pairs.flatMap((pair) =>
  [false, true].map((stream) => ({ ...pair, stream, title: `${pair.name}, stream ${stream}` })),
);

describe.each(calls)('$title', ({ client, upstream, stream }) => {
  test.concurrent.each(Object.entries(refusals))(
    'K37 an upstream that reports %s',
    async (kind, { expected }) => {
      const model = named(kind, client.name, upstream, stream);
      const response = await ask(shared.gateway, client, stream, model);
      const body: unknown = JSON.parse(response.text);
      expect(client.errorMessage(body)).toMatch(expected.message);
      expect([response.status, kindOf(client.name, body)]).toEqual([
        expected.status,
        expected.kinds[client.name === 'generate-content' ? 1 : 0],
      ]);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(response.headers.get('retry-after')).toBe(expected.retryAfter ?? null);
      expect(response.text).not.toContain('CANARY');
    },
  );

  test.concurrent.each(unreadable)('an upstream that responds with %s', async (fault) => {
    const model = named(fault, client.name, upstream, stream);
    const response = await ask(shared.gateway, client, stream, model);
    expect(response.status).toBe(502);
    expect(client.errorMessage(JSON.parse(response.text))).toMatch(abnormal.message);
  });

  // What was cut in a stream may have been shown already.
  test.concurrent.each(stream ? ['unreachable'] : Object.keys(brokenOff))(
    'K38 K40 K41 an upstream that is %s before anything was shown is replaced',
    async (kind) => {
      const model = named(`spared-${kind}`, client.name, upstream, stream);
      const response = await ask(shared.gateway, client, stream, model);
      expect(response.status).toBe(200);
      const attempts = attemptsOf(await rowOf(shared.gateway, response.id));
      expect(attempts.at(-1)).toMatchObject({ channel: `spare-${model}`, result: 'completed' });
      expect(new Set(attempts.map(({ channel }) => channel)).size).toBe(attempts.length);
    },
  );

  test.each(stream ? inStream : [])(
    'an error of class %i inside the stream is the client’s own, and the last event',
    async (status) => {
      const model = named(`inside-${status}`, client.name, upstream, stream);
      const { eventsBeforeContent } = textProtocols.find(({ name }) => name === upstream)!;
      const response = await ask(shared.gateway, client, true, model, {
        'x-simulator-fault': `events=5;gap=2;status=${status};after=${eventsBeforeContent + 2}`,
      });
      expect(response.status).toBe(200);
      expect(response.text).not.toMatch(client.terminator);
      expect(response.text.trimEnd().split('\n\n').at(-1)).toMatch(client.errorFrame);
      expect(response.text.match(new RegExp(client.errorFrame, 'gm'))).toHaveLength(1);
      expect(response.text).not.toContain('CANARY');
    },
  );
});
