import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import {
  createBodyPool,
  namesOf,
  readWholeResponse,
  valueOf,
  type BodyPool,
  type RunningCall,
} from '#body-work/index.ts';
import {
  carriesEnvelopes,
  createConverter,
  createStateSealer,
  createStateStore,
  withoutEnvelopes,
  type ResponseTerms,
  type ConversionTarget,
  type ConverterOptions,
  type FoundMedia,
  type StateStore,
} from '#conversion/index.ts';
import { makerId } from '#conversion/state/envelope.ts';
import { GatewayError } from '#errors/index.ts';
import { outlineRequest } from '#estimation/index.ts';
import {
  textCodecs,
  textProtocols,
  UnreadableResponse,
  type WireRequest,
} from '#protocols/index.ts';
import { conversationOf } from '#routing/index.ts';
import { chat } from '../matrix/features/chat.ts';
import { generateContent } from '../matrix/features/generate-content.ts';
import { messages } from '../matrix/features/messages.ts';
import { responses } from '../matrix/features/responses.ts';
import { sameNames } from '../recordings/tap-run.ts';
import { readWireText, textProtocolNames, withMedia } from '../support/convert.ts';
import { wireResponse } from '../matrix/response-features/wire.ts';
import { inTurn } from '../support/runs.ts';
import { traitsOf } from '../support/upstream-traits.ts';

/* Threads and the main thread make the same of a body: everything that a client can write, between all protocols. */

const stateKey = new Uint8Array(32);
const owner = 'user:1';
/** One store that both sides read, and nothing writes. */
const store: StateStore = createStateStore({ now: () => 0 });
const upstream = { provider: 'openai-compatible', model: 'up', channel: 'ch_1' };
store.keep(owner, 'call_1', {
  maker: makerId(upstream),
  reasoning: [
    {
      type: 'reasoning',
      text: 'remembered',
      state: { protocol: 'messages', kind: 'signature', data: 'sig' },
    },
  ],
  call: { protocol: 'generate-content', kind: 'thought-signature', data: 'c2ln' },
});

const problems: unknown[] = [];
const pool: BodyPool = createBodyPool({
  size: 1,
  heap: 256,
  stateKey,
  store,
  onProblem: (error) => problems.push(error),
});
afterAll(() => pool.close());
const converterOptions: ConverterOptions = {
  protocols: textProtocols,
  codecs: textCodecs,
  sealer: createStateSealer(stateKey, randomBytes),
  store,
};
const converter = createConverter(converterOptions);

let exchanges = 0;
const jobOf = (protocol: TextProtocolName) => ({
  exchange: `req_${(exchanges += 1)}`,
  protocol,
  path: {
    operation: 'generate' as const,
    ...(protocol === 'generate-content'
      ? { model: 'm', stream: false }
      : { model: null, stream: null }),
  },
});
const bytes = (text: string): Buffer => Buffer.from(new TextEncoder().encode(text));

type Outcome<Value> = { readonly value: Value } | { readonly error: unknown };

/** An error as a client sees it. */
const told = (error: unknown) =>
  error instanceof GatewayError
    ? [error.errorName, error.message, error.param]
    : error instanceof UnreadableResponse
      ? [error.message, error.body, error.usage]
      : [(error as Error).name, (error as Error).message];

async function here<Value>(make: () => Value | Promise<Value>): Promise<Outcome<Value>> {
  try {
    return { value: await make() };
  } catch (error) {
    return { error: told(error) };
  }
}

/** The result of a call, which has to give the body back. */
function there<Value>(
  text: string,
  lent: { readonly body: Buffer },
  { result }: Pick<RunningCall<Value>, 'result'>,
): Promise<Outcome<Value>> {
  return here(async () => {
    try {
      return await result;
    } finally {
      expect(lent.body.toString()).toBe(text);
    }
  });
}

const target = (protocol: TextProtocolName): ConversionTarget => ({
  protocol,
  channel: upstream.channel,
  provider: upstream.provider,
  traits: traitsOf('openai-compatible', upstream.model),
  quirks: [{ id: 'p1', edit: { drop: 'messages[].name' } }],
  model: upstream.model,
  maxOutputTokens: 32_000,
  capabilities: new Set(['vision', 'tools', 'reasoning', 'sampling']),
  echoReasoning: 'allow',
});

function read(protocol: TextProtocolName, text: string) {
  const request = readWireText(protocol, text);
  const { path: _, scan: __, json, body, model, ...checked } = request;
  return {
    model,
    facts: {
      checked: { ...checked, extent: { ...checked.extent } },
      members: { ...namesOf(json) },
      isSealed: carriesEnvelopes(body, protocol),
      conversation: conversationOf({
        keyId: 'key_1',
        model,
        headers: {},
        json,
      }),
    },
  };
}

function patch(protocol: TextProtocolName, text: string) {
  const request = readWireText(protocol, text);
  const isStripped = carriesEnvelopes(request.body, protocol);
  const native: WireRequest = isStripped
    ? withoutEnvelopes(textProtocols[protocol], request)
    : request;
  return {
    patchedRequest: textProtocols[protocol].patchRequest(native, {
      upstreamModel: 'up',
      maxOutputTokens: 32_000,
    }),
    isStripped,
    place: null,
  };
}

async function assertSame(client: TextProtocolName, text: string): Promise<void> {
  const job = jobOf(client);
  const source = { keyId: 'key_1', headers: {} };

  const opening = { ...job, body: bytes(text), source };
  const opened = pool.run('key_1', 'openText', opening);
  const facts = opened.result.then(({ model, facts }) => ({ model, facts: valueOf(facts) }));
  expect(await there(text, opening, { result: facts })).toEqual(
    await here(() => read(client, text)),
  );

  const patching = {
    ...job,
    body: bytes(text),
    target: { upstreamModel: 'up', maxOutputTokens: 32_000 },
    recalled: null,
  };
  const patched = pool.run('key_1', 'patchText', patching);
  expect(await there(text, patching, patched)).toEqual(await here(() => patch(client, text)));

  const outlining = { ...job, body: bytes(text) };
  const outline = pool.run('key_1', 'outlineText', outlining);
  expect(await there(text, outlining, outline)).toEqual(
    await here(() => outlineRequest(textCodecs[client].decodeRequest(readWireText(client, text)))),
  );

  for (const upstream of textProtocolNames) {
    if (upstream === client) continue;
    for (const strict of [false, true]) {
      const exchange = {
        id: job.exchange,
        arrivedAt: 5_000,
        protocol: client,
        keyId: 'key_1',
        owner,
        strict,
      };
      // Another exchange for each: the thread knows the last one.
      const id = `${job.exchange}${upstream}${strict}`;
      const found = await here(() =>
        withMedia(async (media: FoundMedia = new Map()) => {
          const converting = {
            ...job,
            exchange: id,
            body: bytes(text),
            converted: exchange,
            target: target(upstream),
            media,
          };
          try {
            return await pool.run('key_1', 'convertText', converting, owner).result;
          } finally {
            expect(String(converting.body)).toBe(text);
            media = converting.media;
          }
        }),
      );
      const expected = await here(() =>
        withMedia((media) =>
          converter
            .open({ ...exchange, request: readWireText(client, text) })
            .convert(target(upstream), media),
        ),
      );
      if (!('value' in found) || !('value' in expected)) {
        expect(found).toEqual(expected);
        continue;
      }
      const { reader, responseLosses, learn: _, terms: wanted, ...converted } = expected.value;
      const { terms: crossed, ...rest } = found.value;
      expect(rest).toEqual(converted);
      expect(crossed).toEqual(wanted);
      // The response does not show that its request was converted in a thread either.
      const reading = converter.read(crossed);
      const response = Buffer.from(wireResponse(upstream, {}).whole);
      expect(String(reading.reader.readResponse(response, sameNames).body)).toBe(
        String(reader.readResponse(response, sameNames).body),
      );
      expect(reading.responseLosses.all()).toEqual(responseLosses.all());
      await assertSameResponse(upstream, wanted);
    }
  }
}

describe.each([chat, responses, messages, generateContent])(
  'a request of $client',
  ({ client, plain, features }) => {
    const named = client === 'generate-content' ? {} : { model: 'm' };
    test.each(features)('$name', async ({ body }) => {
      await assertSame(client, JSON.stringify({ ...named, ...plain, ...body }));
    });
  },
);

const refused: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['no object', '[]'],
  ['cut short', '{"model":"m","messages":['],
  ['a member twice', '{"model":"m","model":"n","messages":[]}'],
  ['no model', '{"messages":[]}'],
  ['no messages', '{"model":"m"}'],
  ['a value that cannot be', '{"model":"m","messages":[{"role":"user","content":"x"}],"n":-1}'],
  ['an unknown role', '{"model":"m","messages":[{"role":"wizard","content":"x"}]}'],
];
test.each(refused)('the refusal of %s', (_, text) => assertSame('chat', text));

test('remembered reasoning, envelopes, and numbers as written', async () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1.0}' } };
  const request = {
    model: 'm',
    messages: [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: null, tool_calls: [call, { ...call, id: 'call_2' }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'y' },
      { role: 'tool', tool_call_id: 'call_2', content: 'y' },
    ],
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
  };
  const text = JSON.stringify(request).replace(
    '"type":"object"',
    '"type":"object","maximum":12345678901234567890',
  );
  await assertSame('chat', text);
  const input = [
    { type: 'reasoning', summary: [], encrypted_content: `gw2.${'A'.repeat(90)}` },
    { role: 'user', content: 'x' },
  ];
  const tools = [{ type: 'function', name: 'f', parameters: { type: 'object', maximum: 0 } }];
  await assertSame(
    'responses',
    JSON.stringify({ model: 'm', input, tools }).replace('"maximum":0', '"maximum":1e400'),
  );
});

/** Reasoning and calls, if the protocol has both, with the state that must accompany the call when it comes back. */
const thinking: { readonly [Name in TextProtocolName]: Parameters<typeof wireResponse<Name>>[1] } =
  {
    chat: {
      message: {
        content: 'so',
        reasoning_content: 'because',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
      },
    },
    responses: {
      output: [
        { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'enc' },
        { id: 'fc_1', type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":1}' },
      ],
    },
    messages: {
      content: [
        { type: 'thinking', thinking: 'because', signature: 'sig' },
        { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } },
      ],
    },
    'generate-content': {
      parts: [
        { text: 'because', thought: true },
        { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'c2ln' },
      ],
    },
  };

/** Sealing gives a different text each time. */
const unsealed = (text: string): string => text.replace(/(gw2\.|Z3cyL)[\w+/=.-]+/g, '$1');

/** Each conversion has one of the responses, in turn: there are hundreds. */
let turn = 0;

async function assertSameResponse(upstream: TextProtocolName, terms: ResponseTerms): Promise<void> {
  const said = [{}, thinking[upstream]].flatMap((one) => {
    const { whole, stream } = wireResponse(upstream, one as never);
    return [whole, stream, '{"error":{"message":"no"}}'];
  });
  for (const text of inTurn((turn += 1), said)) {
    const kept: unknown[] = [];
    const own = createConverter({
      ...converterOptions,
      store: { ...store, keep: (_owner, call, state) => void kept.push([call, state]) },
    }).read(terms);
    const args = { body: bytes(text), upstream, echo: sameNames, terms, place: null };
    const found = await there(text, args, pool.run('key_1', 'readText', args));
    const expected = await here(() =>
      readWholeResponse(bytes(text), textProtocols[upstream], own.reader, sameNames),
    );
    if (!('value' in found) || !('value' in expected)) {
      expect(found).toEqual(expected);
      continue;
    }
    const { body, usage } = expected.value;
    expect(found.value).toMatchObject({
      usage,
      keptStates: kept,
      losses: own.responseLosses.all(),
    });
    expect(unsealed(String(found.value.body))).toBe(unsealed(String(body)));
  }
}

test('no thread reported a problem', () => {
  expect(problems).toEqual([]);
});
