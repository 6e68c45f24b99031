import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Block, NativeState } from '../../canonical/index.ts';
import { assistant, call, requestOf, user } from '../../../test/support/canonical.ts';
import { signerOf } from '../../../test/support/converted-reader.ts';
import { LossList } from '../losses.ts';
import { sealForClient } from './client-state.ts';
import { openState, sealState, type StateOwner } from './envelope.ts';
import { restoreState } from './restore-state.ts';
import { createStateStore } from './state-store.ts';

const signer = signerOf('key');
const owner: StateOwner = { provider: 'gemini', model: 'gemini-3', channel: 'ch_1' };
const thought: NativeState = {
  protocol: 'generate-content',
  kind: 'thought-signature',
  data: 'c2lnbmVk',
};
const target = { owner, protocol: 'generate-content', keyId: 'key_1' } as const;

const restored = (
  blocks: Block[],
  change: Partial<StateOwner> = {},
  store = createStateStore({ now: () => 0 }),
) => {
  const losses = new LossList();
  const request = requestOf({ turns: [user('hi'), assistant(...blocks)] });
  const asked = { ...target, owner: { ...owner, ...change } };
  const { turns } = restoreState(request, asked, signer, store, losses);
  return { blocks: turns[1]?.blocks, losses: losses.all() };
};
const dropped = [{ what: 'reasoning.state', how: 'dropped' }];

describe('envelopes', () => {
  test('open to what was sealed, and not when a character is another', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), (data, at) => {
        const sealed = { owner, state: { ...thought, data }, place: 'next', text: null } as const;
        const text = sealState(signer, sealed);
        expect(openState(signer, text)).toEqual(sealed);
        const index = at % (text.length - 1);
        const altered = `${text.slice(0, index)}${text[index] === 'A' ? 'B' : 'A'}${text.slice(index + 1)}`;
        expect(openState(signer, altered)).toBeNull();
        expect(openState(signerOf('other'), text)).toBeNull();
      }),
    );
  });

  test.each(['', 'gw1.', 'gw1..', 'gw1.e30.x', 'ErUBCkYIBxgC'])('%j is none', (text) => {
    expect(openState(signer, text)).toBeNull();
  });
});

describe('K20 state that comes back', () => {
  const onCall = sealForClient(signer, 'messages', owner, thought, 'next');
  const carrier: Block = { type: 'reasoning', text: '', state: onCall };

  test('from a block beside the call to the call', () => {
    expect(restored([carrier, call()])).toEqual({
      blocks: [{ ...call(), state: thought }],
      losses: [],
    });
  });

  test('from the text before it to that text', () => {
    const after = sealForClient(signer, 'messages', owner, thought, 'previous');
    const { blocks } = restored([
      { type: 'text', text: 'x' },
      { type: 'reasoning', text: '', state: after },
    ]);
    expect(blocks).toEqual([{ type: 'text', text: 'x', state: thought }]);
  });

  test('in base64 of either alphabet from a client that keeps bytes', () => {
    const own = sealForClient(signer, 'generate-content', owner, thought, 'own');
    expect(own.data).toMatch(/^[A-Za-z0-9+/]+=*$/);
    const url = Buffer.from(own.data, 'base64').toString('base64url');
    for (const data of [own.data, url]) {
      expect(
        restored([call({ state: { ...own, kind: 'thought-signature', data } })]).blocks,
      ).toEqual([call({ state: thought })]);
    }
  });

  test.each<[string, Partial<StateOwner>]>([
    ['another model', { model: 'gemini-4' }],
    ['another vendor', { provider: 'openai' }],
  ])('is taken off for %s', (_, change) => {
    expect(restored([carrier, call()], change)).toEqual({ blocks: [call()], losses: dropped });
  });

  test('another channel of the same vendor may have it, one of many vendors may not', () => {
    expect(restored([carrier, call()], { channel: 'ch_2' }).losses).toEqual([]);
    const many = { ...owner, provider: 'openai-compatible' };
    const state = sealForClient(signer, 'messages', many, thought, 'own');
    const blocks: Block[] = [{ type: 'reasoning', text: 'so', state }];
    expect(restored(blocks, { ...many }).losses).toEqual([]);
    expect(restored(blocks, { ...many, channel: 'ch_2' })).toEqual({
      blocks: [{ type: 'reasoning', text: 'so' }],
      losses: dropped,
    });
  });

  test('the client’s own vendor’s signature is nobody else’s; its text stays', () => {
    const native: NativeState = { protocol: 'messages', kind: 'signature', data: 'ErUB' };
    const { blocks, losses } = restored([
      { type: 'reasoning', text: 'so', state: native },
      { type: 'reasoning', text: '', state: { ...native, kind: 'redacted' } },
    ]);
    expect(blocks).toEqual([{ type: 'reasoning', text: 'so' }]);
    expect(losses).toEqual(dropped);
  });
});

describe('what a messages upstream signed', () => {
  const claude: StateOwner = { provider: 'anthropic', model: 'claude-opus-4-8', channel: 'ch_1' };
  const signature: NativeState = { protocol: 'messages', kind: 'signature', data: 'ErUB' };
  const given = (sealedText: string, text: string) => {
    const state = sealForClient(signer, 'responses', claude, signature, 'own', sealedText);
    const losses = new LossList();
    const request = requestOf({ turns: [assistant({ type: 'reasoning', text, state })] });
    const asked = { owner: claude, protocol: 'messages', keyId: 'key_1' } as const;
    const store = createStateStore({ now: () => 0 });
    const { turns } = restoreState(request, asked, signer, store, losses);
    return { blocks: turns[0]?.blocks, losses: losses.all() };
  };

  test('goes back with the text it signs', () => {
    const block = { type: 'reasoning', text: 'so', state: signature };
    expect(given('so', 'so')).toEqual({ blocks: [block], losses: [] });
    expect(given('', '').blocks).toEqual([{ ...block, text: '' }]);
  });

  test('does not go back with any other', () => {
    expect(given('so', '')).toEqual({ blocks: [], losses: dropped });
    expect(given('so', 'so\n')).toEqual({
      blocks: [{ type: 'reasoning', text: 'so\n' }],
      losses: dropped,
    });
  });
});

test('state of a chat upstream comes back to it', () => {
  const vendor: StateOwner = { provider: 'openai-compatible', model: 'glm', channel: 'ch_1' };
  for (const kind of ['encrypted', 'thought-signature'] as const) {
    const state: NativeState = { protocol: 'chat', kind, data: '[{"data":"x"}]' };
    const sealed = sealForClient(signer, 'messages', vendor, state, 'own', 'so');
    const request = requestOf({
      turns: [assistant({ type: 'reasoning', text: 'so', state: sealed })],
    });
    const back = (protocol: 'chat' | 'responses') =>
      restoreState(
        request,
        { owner: vendor, protocol, keyId: 'key_1' },
        signer,
        createStateStore({ now: () => 0 }),
        new LossList(),
      ).turns[0]?.blocks;
    expect(back('chat')).toEqual([{ type: 'reasoning', text: 'so', state }]);
    expect(back('responses')).toEqual([{ type: 'reasoning', text: 'so' }]);
  }
});

describe('state that is remembered', () => {
  test('stands with its call again, for the same key and model only', () => {
    const store = createStateStore({ now: () => 0 });
    const reasoning = [{ type: 'reasoning', text: 'so', state: thought }] as const;
    store.keep('key_1', 'call_1', { owner, reasoning, call: thought });
    expect(restored([call()], {}, store).blocks).toEqual([...reasoning, call({ state: thought })]);
    expect(restored([call()], { model: 'other' }, store).blocks).toEqual([call()]);
    expect(restored([call({ id: 'call_2' })], {}, store).blocks).toEqual([call({ id: 'call_2' })]);
    expect(store.find('key_2', 'call_1')).toBeNull();
  });

  test('for an hour, and only so much of it', () => {
    let now = 0;
    const store = createStateStore({ now: () => now, maxEntries: 2, maxSize: 100 });
    const kept = { owner, reasoning: [], call: thought };
    for (const id of ['a', 'b', 'c']) store.keep('k', id, kept);
    expect(['a', 'b', 'c'].map((id) => store.find('k', id) !== null)).toEqual([false, true, true]);
    store.keep('k', 'd', { ...kept, call: { ...thought, data: 'x'.repeat(80) } });
    expect(['b', 'c', 'd'].map((id) => store.find('k', id) !== null)).toEqual([false, true, true]);
    now = 3_600_000;
    expect(store.find('k', 'd')).toBeNull();
  });
});
