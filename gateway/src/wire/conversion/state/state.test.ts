import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Block, type NativeState, type Turn, LossList } from '#canonical/index.ts';
import { assistant, call, requestOf, user } from '#test/support/canonical.ts';
import { sealerOf } from '#test/support/converted-reader.ts';
import { sealForClient, openState, sealState, makerId, type StateMaker } from './envelope.ts';
import { restoreState } from './restore-state.ts';
import { createStateSealer } from './sealer.ts';
import { StateKeeper, callKey, placeOf } from './state-keeper.ts';
import { createStateStore } from './state-store.ts';

const sealer = sealerOf('key');
const sealing = { sealer, owner: 'team:1' };
const gemini: StateMaker = { provider: 'gemini', model: 'gemini-3', channel: 'ch_1' };
const thought: NativeState = {
  protocol: 'generate-content',
  kind: 'thought-signature',
  data: 'c2lnbmVk',
};
const maker = makerId(gemini);

const restored = (
  blocks: Block[],
  change: Partial<StateMaker> = {},
  store = createStateStore({ now: () => 0 }),
  owner = sealing.owner,
) => {
  const losses = new LossList();
  const request = requestOf({ turns: [user('hi'), assistant(...blocks)] });
  const protocol = 'generate-content';
  const asked = { maker: makerId({ ...gemini, ...change }), protocol } as const;
  const { turns } = restoreState(request, asked, { sealer, owner }, store, losses);
  return { blocks: turns[1]?.blocks, losses: losses.all() };
};
const dropped = [{ what: 'reasoning.state', how: 'dropped' }];

describe('envelopes', () => {
  const sealed = { maker, state: thought, place: 'next', text: null } as const;

  test('open for the owner they were sealed for, and not with a character changed', () => {
    fc.assert(
      fc.property(fc.string(), fc.option(fc.string()), fc.nat(), (data, id, at) => {
        const state = { ...thought, data, ...(id !== null && { id }) };
        const text = sealState(sealer, 'team:1', { ...sealed, state });
        expect(openState(sealer, 'team:1', text)).toEqual({ ...sealed, state });
        const index = at % (text.length - 1);
        const altered = `${text.slice(0, index)}${text[index] === 'A' ? 'B' : 'A'}${text.slice(index + 1)}`;
        expect(openState(sealer, 'team:1', altered)).toBeNull();
        for (const owner of ['team:2', 'user:1', 'team:', ''])
          expect(openState(sealer, owner, text)).toBeNull();
        expect(openState(sealerOf('other'), 'team:1', text)).toBeNull();
      }),
    );
  });

  test('open on another node with the same master key only', () => {
    const text = sealState(sealer, 'team:1', sealed);
    expect(openState(sealerOf('key'), 'team:1', text)).toEqual(sealed);
  });

  test('never look the same twice, and reveal nothing about the vendor', () => {
    const names = { provider: 'gemini', model: 'gemini-3-pro-preview', channel: 'ch_0123456789' };
    const bytes = Buffer.alloc(32, 'key');
    const random = createStateSealer(bytes, randomBytes);
    const text = sealState(random, 'team:1', { ...sealed, maker: makerId(names) });
    expect(text).toMatch(/^gw2\.[\w-]+$/);
    expect(sealState(random, 'team:1', { ...sealed, maker: makerId(names) })).not.toBe(text);
    const shown = Buffer.from(text.slice(4), 'base64url').toString('latin1');
    for (const name of Object.values(names)) expect(shown).not.toContain(name);
    expect(shown).not.toContain(thought.data);
    const short = { provider: 'openai', model: 'o', channel: 'c' };
    expect(sealState(sealer, 'team:1', { ...sealed, maker: makerId(short) })).toHaveLength(
      text.length,
    );
  });

  test.each(['', 'gw1.e30.x', 'gw2.', 'gw2.e30', `gw2.${'A'.repeat(90)}`, 'gw3.x', 'ErUB'])(
    '%j is not an envelope',
    (text) => {
      expect(openState(sealer, 'team:1', text)).toBeNull();
    },
  );
});

describe('K20 returned state', () => {
  const onCall = sealForClient(sealing, 'messages', maker, thought, 'next');
  const carrier: Block = { type: 'reasoning', text: '', state: onCall };

  test('from a block beside the call moves to the call', () => {
    expect(restored([carrier, call()])).toEqual({
      blocks: [{ ...call(), state: thought }],
      losses: [],
    });
  });

  test('is removed for another owner, without an error', () => {
    const other = restored([carrier, call()], {}, undefined, 'user:1');
    expect(other).toEqual({ blocks: [call()], losses: dropped });
  });

  test('from the text before it moves to that text', () => {
    const after = sealForClient(sealing, 'messages', maker, thought, 'previous');
    const { blocks } = restored([
      { type: 'text', text: 'x' },
      { type: 'reasoning', text: '', state: after },
    ]);
    expect(blocks).toEqual([{ type: 'text', text: 'x', state: thought }]);
  });

  test('in base64 of either alphabet is accepted from a client that keeps bytes', () => {
    const own = sealForClient(sealing, 'generate-content', maker, thought, 'own');
    expect(own.data).toMatch(/^[A-Za-z0-9+/]+=*$/);
    const url = Buffer.from(own.data, 'base64').toString('base64url');
    for (const data of [own.data, url]) {
      expect(
        restored([call({ state: { ...own, kind: 'thought-signature', data } })]).blocks,
      ).toEqual([call({ state: thought })]);
    }
  });

  test.each<[string, Partial<StateMaker>]>([
    ['another model', { model: 'gemini-4' }],
    ['another vendor', { provider: 'openai' }],
  ])('is removed for %s', (_, change) => {
    expect(restored([carrier, call()], change)).toEqual({ blocks: [call()], losses: dropped });
  });

  test('is shared by channels of one vendor, but not by channels of many vendors', () => {
    expect(restored([carrier, call()], { channel: 'ch_2' }).losses).toEqual([]);
    const many = { ...gemini, provider: 'openai-compatible' };
    const state = sealForClient(sealing, 'messages', makerId(many), thought, 'own');
    const blocks: Block[] = [{ type: 'reasoning', text: 'so', state }];
    expect(restored(blocks, { ...many }).losses).toEqual([]);
    expect(restored(blocks, { ...many, channel: 'ch_2' })).toEqual({
      blocks: [{ type: 'reasoning', text: 'so' }],
      losses: dropped,
    });
  });

  test('with the signature of the client’s own vendor fits no other vendor; its text stays', () => {
    const native: NativeState = { protocol: 'messages', kind: 'signature', data: 'ErUB' };
    const { blocks, losses } = restored([
      { type: 'reasoning', text: 'so', state: native },
      { type: 'reasoning', text: '', state: { ...native, kind: 'redacted' } },
    ]);
    expect(blocks).toEqual([{ type: 'reasoning', text: 'so' }]);
    expect(losses).toEqual(dropped);
  });
});

describe('text signed by a messages upstream', () => {
  const claude: StateMaker = { provider: 'anthropic', model: 'claude-opus-4-8', channel: 'ch_1' };
  const signature: NativeState = { protocol: 'messages', kind: 'signature', data: 'ErUB' };
  const given = (sealedText: string, text: string) => {
    const state = sealForClient(
      sealing,
      'responses',
      makerId(claude),
      signature,
      'own',
      sealedText,
    );
    const losses = new LossList();
    const request = requestOf({ turns: [assistant({ type: 'reasoning', text, state })] });
    const asked = { maker: makerId(claude), protocol: 'messages' } as const;
    const store = createStateStore({ now: () => 0 });
    const { turns } = restoreState(request, asked, sealing, store, losses);
    return { blocks: turns[0]?.blocks, losses: losses.all() };
  };

  test('returns with its signature', () => {
    const block = { type: 'reasoning', text: 'so', state: signature };
    expect(given('so', 'so')).toEqual({ blocks: [block], losses: [] });
    expect(given('', '').blocks).toEqual([{ ...block, text: '' }]);
  });

  test('does not return with any other signature', () => {
    expect(given('so', '')).toEqual({ blocks: [], losses: dropped });
    expect(given('so', 'so\n')).toEqual({
      blocks: [{ type: 'reasoning', text: 'so\n' }],
      losses: dropped,
    });
  });
});

test('state of a chat upstream returns to it', () => {
  const vendor: StateMaker = { provider: 'openai-compatible', model: 'glm', channel: 'ch_1' };
  for (const kind of ['encrypted', 'thought-signature'] as const) {
    const state: NativeState = { protocol: 'chat', kind, data: '[{"data":"x"}]' };
    const sealed = sealForClient(sealing, 'messages', makerId(vendor), state, 'own', 'so');
    const request = requestOf({
      turns: [assistant({ type: 'reasoning', text: 'so', state: sealed })],
    });
    const back = (protocol: 'chat' | 'responses') =>
      restoreState(
        request,
        { maker: makerId(vendor), protocol },
        sealing,
        createStateStore({ now: () => 0 }),
        new LossList(),
      ).turns[0]?.blocks;
    expect(back('chat')).toEqual([{ type: 'reasoning', text: 'so', state }]);
    expect(back('responses')).toEqual([{ type: 'reasoning', text: 'so' }]);
  }
});

describe('remembered state', () => {
  test('returns with its call, for the same owner and model only', () => {
    const store = createStateStore({ now: () => 0 });
    const reasoning = [{ type: 'reasoning', text: 'so', state: thought }] as const;
    store.keep('team:1', callKey('hi hi', 'call_1'), { maker, reasoning, call: thought });
    expect(restored([call()], {}, store).blocks).toEqual([...reasoning, call({ state: thought })]);
    expect(restored([call()], { model: 'other' }, store).blocks).toEqual([call()]);
    expect(restored([call({ id: 'call_2' })], {}, store).blocks).toEqual([call({ id: 'call_2' })]);
    expect(restored([call()], {}, store, 'team:2').blocks).toEqual([call()]);
    expect(restored([call()], {}, store, 'user:1').blocks).toEqual([call()]);
  });

  test('stays in its conversation, although calls have the same id there', () => {
    const store = createStateStore({ now: () => 0 });
    const keeper = (answered: readonly Turn[]) =>
      new StateKeeper('team:1', maker, store, placeOf(answered));
    const result = (text: string): Turn => ({
      role: 'user',
      blocks: [
        {
          type: 'tool-result',
          id: 'call_1',
          name: null,
          content: [{ type: 'text', text }],
          isError: false,
        },
      ],
    });
    const history = (question: string, found: string) => [
      user(question),
      assistant(call()),
      result(found),
      assistant(call()),
    ];
    const first = history('one', 'red');
    keeper(first.slice(0, 1)).call('call_1', { ...thought, data: 'first' });
    keeper(first.slice(0, 3)).call('call_1', { ...thought, data: 'second' });
    const statesOf = (turns: readonly Turn[]) => {
      const request = requestOf({ turns });
      const target = { maker, protocol: 'generate-content' } as const;
      return restoreState(request, target, sealing, store, new LossList()).turns.flatMap(
        ({ role, blocks }) => (role === 'assistant' ? [blocks[0]?.state?.data] : []),
      );
    };
    expect(statesOf(first)).toEqual(['first', 'second']);
    expect(statesOf(history('two', 'red'))).toEqual([undefined, undefined]);
    expect(statesOf(history('one', 'blue'))).toEqual(['first', undefined]);
  });

  test('lasts an hour, up to a limited size', () => {
    let now = 0;
    const store = createStateStore({ now: () => now, maxEntries: 2, maxSize: 100 });
    const kept = { maker, reasoning: [], call: thought };
    for (const id of ['a', 'b', 'c']) store.keep('k', id, kept);
    expect(['a', 'b', 'c'].map((id) => store.find('k', id) !== null)).toEqual([false, true, true]);
    store.keep('k', 'd', { ...kept, call: { ...thought, data: 'x'.repeat(80) } });
    expect(['b', 'c', 'd'].map((id) => store.find('k', id) !== null)).toEqual([false, true, true]);
    now = 3_600_000;
    expect(store.find('k', 'd')).toBeNull();
  });
});
