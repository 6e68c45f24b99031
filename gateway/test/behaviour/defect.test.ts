import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { StreamTap } from '#protocols/index.ts';
import type { ChannelAddress, Vendor } from '#vendors/index.ts';
import { keyQuota } from '../money/books.ts';
import { startTestGateway, testKey } from '../support/gateway.ts';
import { startOwnUpstream } from '../support/own-upstream.ts';
import { ask, askRaw, attemptsOf, describeChannels, until } from './support.ts';
import { textProtocols } from './text-protocols.ts';

/** Where what one request alone goes through has a defect just now. Some errors have a code, as those of Node have. */
const { current, failAt } = vi.hoisted(() => {
  const now = { at: '' };
  const failAt = (where: string): void => {
    if (now.at !== where) return;
    const error = new TypeError(`a defect in ${where}`);
    throw where.length % 2 === 0 ? error : Object.assign(error, { code: 'ERR_INVALID_ARG_TYPE' });
  };
  return { current: now, failAt };
});

/** A provider with defects only when it classifies a failure, or signs in with one channel's credential. */
vi.mock('#vendors/index.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('#vendors/index.ts')>();
  return {
    ...original,
    classifyFailure(failure: Parameters<typeof original.classifyFailure>[0]) {
      failAt('classify');
      return original.classifyFailure(failure);
    },
    vendorOf(channel: ChannelAddress) {
      const provider = original.vendorOf(channel);
      if (provider === undefined) return undefined;
      return {
        ...provider,
        headers(secret, protocol) {
          if (secret === 'of-converted') failAt('headers');
          return provider.headers(secret, protocol);
        },
      } satisfies Vendor;
    },
  };
});

/**
 * A chat protocol with defects, each for one model's requests only, and codecs with defects: only a converted request
 * meets them.
 */
vi.mock('#protocols/index.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('#protocols/index.ts')>();
  const { chat } = original.textProtocols;
  const { chat: chatCodec, messages: messagesCodec } = original.textCodecs;
  const fail = (model: string, where: string): void => {
    if (model === `defect-${where}`) throw new TypeError(`a defect in ${where}`);
  };
  return {
    ...original,
    textCodecs: {
      ...original.textCodecs,
      chat: {
        ...chatCodec,
        decodeRequest(request) {
          failAt('decode-request');
          return chatCodec.decodeRequest(request);
        },
        encodeResponse(...response) {
          failAt('encode-response');
          return chatCodec.encodeResponse(...response);
        },
        createStreamEncoder(context) {
          const encoder = chatCodec.createStreamEncoder(context);
          let events = 0;
          return {
            push(event) {
              events += 1;
              if (events === 4) failAt('encode-event');
              return encoder.push(event);
            },
            end(usage) {
              failAt('encode-end');
              return encoder.end(usage);
            },
            fail(error) {
              failAt('encode-failure');
              return encoder.fail(error);
            },
          };
        },
      } satisfies typeof chatCodec,
      messages: {
        ...messagesCodec,
        encodeRequest(request, target) {
          failAt('encode-request');
          return messagesCodec.encodeRequest(request, target);
        },
        decodeResponse(json) {
          failAt('decode-response');
          return messagesCodec.decodeResponse(json);
        },
        createStreamDecoder() {
          failAt('decoder');
          const decoder = messagesCodec.createStreamDecoder();
          let events = 0;
          return {
            push(event, emit) {
              events += 1;
              if (events === 1) failAt('decode-first');
              if (events === 6) failAt('decode-later');
              decoder.push(event, emit);
            },
            end(emit) {
              failAt('decode-end');
              decoder.end(emit);
            },
          };
        },
      } satisfies typeof messagesCodec,
    },
    textProtocols: {
      ...original.textProtocols,
      chat: {
        ...chat,
        readRequest(opened) {
          fail(opened.model, 'read');
          return chat.readRequest(opened);
        },
        patchRequest(request, target) {
          fail(request.model, 'patch');
          return chat.patchRequest(request, target);
        },
        readResponse(body, echo) {
          fail(echo.clientModel, 'response');
          return chat.readResponse(body, echo);
        },
        createStreamTap(context) {
          fail(context.clientModel, 'tap');
          const tap = chat.createStreamTap(context);
          let events = 0;
          return new Proxy(tap, {
            get(target, name) {
              if (name === 'inspect') {
                return (event: Parameters<StreamTap['inspect']>[0]) => {
                  events += 1;
                  if (events === 1) fail(context.clientModel, 'first-event');
                  if (events === 6) fail(context.clientModel, 'later-event');
                  return target.inspect(event);
                };
              }
              if (name === 'completion') fail(context.clientModel, 'end');
              const value: unknown = Reflect.get(target, name);
              return typeof value === 'function' ? (value.bind(target) as unknown) : value;
            },
          });
        },
      } satisfies typeof chat,
    },
  };
});

const places = [
  ['read', false],
  ['read', true],
  ['patch', false],
  ['patch', true],
  ['response', false],
  ['tap', true],
  ['first-event', true],
  ['later-event', true],
  ['end', true],
] as const;

/** Additional steps of a request to a channel of another protocol; the last with a failing upstream. */
const convertedPlaces = [
  ['decode-request', false],
  ['encode-request', true],
  ['headers', false],
  ['headers', true],
  ['decode-response', false],
  ['encode-response', false],
  ['decoder', true],
  ['decode-first', true],
  ['decode-later', true],
  ['decode-end', true],
  ['encode-event', true],
  ['encode-end', true],
  ['classify', false, 'status=500'],
  ['classify', true, 'status=500'],
  ['classify', true, 'error-first'],
  ['encode-failure', true, 'cut-at=6'],
] as const;

/** Those before the client sees anything. */
const unshownPlaces = [
  ['encode-request', true],
  ['headers', false],
  ['headers', true],
  ['decode-response', false],
  ['decoder', true],
  ['decode-first', true],
] as const;

const names = [...new Set(places.map(([where]) => `defect-${where}`))];
const chat = textProtocols.find(({ name }) => name === 'chat')!;

test('R-27 a defect fails only the request that meets it', async () => {
  const own = await startOwnUpstream();
  onTestFinished(() => own.close());
  own.answer = (_asked, response) => {
    const content = { role: 'model', parts: [{ text: 'You said' }] };
    const event = {
      candidates: [{ index: 0, content, finishReason: 'STOP' }],
      // Without usage, a disconnected client would be drained.
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 },
    };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  };
  const gateway = await startTestGateway({
    config: `
${describeChannels([
  {
    name: 'sim',
    protocols: ['chat'],
    models: ['demo-chat', ...names.map((name) => `${name} -> demo-chat`)],
  },
  {
    name: 'converted',
    protocols: ['messages'],
    models: ['converted -> demo-chat'],
    more: ['api_key: of-converted'],
  },
  {
    name: 'first',
    protocols: ['messages'],
    models: ['two -> demo-chat'],
    more: ['priority: 1', 'api_key: of-converted'],
  },
  { name: 'second', protocols: ['generate-content'], models: ['two -> demo-chat'] },
  { name: 'own', at: own.url, protocols: ['generate-content'], models: ['unended'] },
])}
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey}, quota: 100 }]
`,
  });
  onTestFinished(() => gateway.close());
  const meet = async (where: string, stream: boolean, model: string, fault: string) => {
    const logged = gateway.errors.length;
    const others = Array.from({ length: 4 }, () =>
      ask(gateway, chat, true, 'demo-chat', { 'x-simulator-fault': 'events=12;gap=5' }),
    );
    // Cut off is an end, too.
    const met = await ask(gateway, chat, stream, model, { 'x-simulator-fault': fault }).catch(
      () => null,
    );
    expect([where, met?.status === 200 && chat.terminator.test(met.text)]).toEqual([where, false]);
    expect([where, met?.text.includes('a defect in')]).not.toEqual([where, true]);
    for (const { text } of await Promise.all(others)) expect(text).toMatch(chat.terminator);
    // The defect is logged; otherwise nobody could fix it.
    expect([where, gateway.errors.length > logged]).toEqual([where, true]);
  };
  for (const [where, stream] of places) {
    await meet(where, stream, `defect-${where}`, 'events=12;gap=2');
  }
  for (const [where, stream, fault = 'events=12;gap=2'] of convertedPlaces) {
    current.at = where;
    await meet(where, stream, 'converted', fault);
  }
  // With another channel behind it, a defect is noticed by nobody but the operator.
  for (const [where, stream] of unshownPlaces) {
    current.at = where;
    const logged = gateway.errors.length;
    const { text } = await ask(gateway, chat, stream, 'two');
    expect([where, chat.terminator.test(text) || text.includes('"stop"')]).toEqual([where, true]);
    expect([where, gateway.errors.length > logged]).toEqual([where, true]);
  }
  // A stream that is complete except for the end of its body is also complete for a client that disconnects.
  current.at = 'encode-end';
  for (const leave of ['destroy', 'resetAndDestroy'] as const) {
    const logged = gateway.errors.length;
    own.clear();
    const leaver = await askRaw(gateway, chat, true, 'unended');
    await until(() => own.asked.length === 1, 'it is answered');
    await wait(100);
    leaver.socket[leave]();
    await until(() => gateway.errors.length > logged, 'it is reported');
  }
  current.at = '';
  // Ten in a row, and nothing that a channel is left alone for.
  expect(await (await fetch(`${gateway.url}/metrics`)).text()).toContain(
    'sluice_channel_breaker{channel="converted",state="closed"} 1',
  );
  expect((await ask(gateway, chat, true, 'converted')).text).toMatch(chat.terminator);
  await until(async () => (await keyQuota(gateway, testKey)).held === 0n, 'no hold is left', 2_000);
  const rows = await gateway.usage();
  const [last, ...failed] = rows.filter(({ model }) => model !== 'demo-chat' && model !== 'two');
  expect(last).toMatchObject({ model: 'converted', outcome: 'completed' });
  expect(failed).toHaveLength(places.length + convertedPlaces.length + 2);
  const results = failed.flatMap((row) => attemptsOf(row).map(({ result }) => result));
  // The others had not been sent, but for the one whose upstream broke off.
  expect(results.filter((result) => result !== 'defect')).toHaveLength(1);
  for (const { model, outcome, cost } of failed) {
    expect([model, outcome, Number(cost)]).toEqual([
      model,
      expect.stringMatching(/failed|refused/),
      0,
    ]);
  }
  expect((await fetch(`${gateway.url}/ready`)).status).toBe(200);
});
