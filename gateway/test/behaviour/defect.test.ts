import { expect, onTestFinished, test, vi } from 'vitest';
import type { StreamTap } from '../../src/protocols/index.ts';
import { keyQuota } from '../money/books.ts';
import { startTestGateway, testKey } from '../support/gateway.ts';
import { ask, describeChannels, until } from './support.ts';
import { textProtocols } from './text-protocols.ts';

/** A chat protocol with defects, each for one model's requests only. */
vi.mock('../../src/protocols/index.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../src/protocols/index.ts')>();
  const { chat } = original.textProtocols;
  const fail = (model: string, where: string): void => {
    if (model === `defect-${where}`) throw new TypeError(`a defect in ${where}`);
  };
  return {
    ...original,
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

const names = [...new Set(places.map(([where]) => `defect-${where}`))];
const chat = textProtocols.find(({ name }) => name === 'chat')!;

test('R-27 a defect fails the request that meets it, and no other', async () => {
  const gateway = await startTestGateway({
    config: `
${describeChannels([
  {
    name: 'sim',
    protocols: ['chat'],
    models: ['demo-chat', ...names.map((name) => `${name} -> demo-chat`)],
  },
])}
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey}, quota: 100 }]
`,
  });
  onTestFinished(() => gateway.close());
  for (const [where, stream] of places) {
    const logged = gateway.errors.length;
    const others = Array.from({ length: 4 }, () =>
      ask(gateway, chat, true, 'demo-chat', { 'x-simulator-fault': 'events=20;gap=10' }),
    );
    // Cut off is an end, too.
    const met = await ask(gateway, chat, stream, `defect-${where}`, {
      'x-simulator-fault': 'events=20;gap=5',
    }).catch(() => null);
    expect([where, met?.status === 200 && chat.terminator.test(met.text)]).toEqual([where, false]);
    expect([where, met?.text.includes('a defect in')]).not.toEqual([where, true]);
    for (const { text } of await Promise.all(others)) expect(text).toMatch(chat.terminator);
    // It is told: nobody could mend it otherwise.
    expect([where, gateway.errors.length > logged]).toEqual([where, true]);
  }
  await until(async () => (await keyQuota(gateway, testKey)).held === 0n, 'no hold is left', 2_000);
  const rows = await gateway.usage();
  const failed = rows.filter(({ model }) => model.startsWith('defect-'));
  for (const { model, outcome, cost } of failed) {
    expect([model, outcome, Number(cost)]).toEqual([
      model,
      expect.stringMatching(/failed|refused/),
      0,
    ]);
  }
  expect((await fetch(`${gateway.url}/ready`)).status).toBe(200);
});
