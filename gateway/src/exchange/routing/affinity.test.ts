import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Channel, Route } from '#catalogue/index.ts';
import { createChannelAffinity, startingAt } from './affinity.ts';
import { conversationOf, type Conversation, type ConversationSource } from './conversation.ts';

const routeOf = (id: string, priority = 0): Route => ({
  channel: { id, name: id, priority } as unknown as Channel,
  upstreamModel: 'up',
});
const [a, b, c] = [routeOf('a'), routeOf('b'), routeOf('c')];
const ids = (routes: readonly Route[]) => routes.map(({ channel }) => channel.id).join('');

const source = (change: Partial<ConversationSource> = {}): ConversationSource => ({
  keyId: 'key_1',
  model: 'm',
  headers: {},
  json: {},
  ...change,
});
const named = (name: string): Conversation =>
  conversationOf(source({ json: { prompt_cache_key: name } }));

describe('the conversation of a request', () => {
  const key = (change: Partial<ConversationSource>) => conversationOf(source(change)).key;

  test('is unknown without any sign', () => {
    expect(key({ json: { messages: [{ role: 'user', content: 'hello' }] } })).toBe(null);
    expect(key({ json: { metadata: null, messages: [], input: 'x', system: [] } })).toBe(null);
  });

  test.each<[string, Partial<ConversationSource>]>([
    ['prompt_cache_key', { json: { prompt_cache_key: 's1' } }],
    ['metadata.user_id', { json: { metadata: { user_id: 's1' } } }],
    ['x-claude-code-session-id', { headers: { 'x-claude-code-session-id': 's1' } }],
    ['session-id', { headers: { 'session-id': 's1' } }],
    ['session_id', { headers: { session_id: 's1' } }],
    ['x-session-affinity', { headers: { 'x-session-affinity': 's1' } }],
  ])('is named by %s, before any system prompt', (_name, change) => {
    const same = key({ ...change, json: { ...change.json, system: 'one' } });
    expect(same).not.toBe(null);
    expect(key({ ...change, json: { ...change.json, system: 'two' } })).toBe(same);
    expect(key({ ...change, keyId: 'key_2' })).not.toBe(same);
    expect(key({ ...change, model: 'other' })).not.toBe(same);
  });

  test.each<[string, (text: string) => Record<string, unknown>]>([
    ['responses', (text) => ({ instructions: text, input: 'x' })],
    ['responses input', (text) => ({ input: [{ role: 'developer', content: text }] })],
    ['messages', (text) => ({ system: text })],
    ['messages blocks', (text) => ({ system: [{ type: 'text', text }, { text: 'more' }] })],
    ['chat', (text) => ({ messages: [{ role: 'system', content: text }] })],
    ['chat parts', (text) => ({ messages: [{ role: 'developer', content: [{ text }] }] })],
    ['generate-content', (text) => ({ systemInstruction: { parts: [{ text }] } })],
    ['generate-content snake', (text) => ({ system_instruction: { parts: [{ text }] } })],
  ])('%s: otherwise comes from its system prompt', (_name, body) => {
    const same = key({ json: body('You are') });
    expect(same).not.toBe(null);
    expect(key({ json: { ...body('You are'), temperature: 1 } })).toBe(same);
    expect(key({ json: body('You are not') })).not.toBe(same);
    expect(key({ json: body('You are'), keyId: 'key_2' })).not.toBe(same);
  });

  test('depends on the first 4 KiB of a long system prompt', () => {
    const long = 'x'.repeat(4096);
    expect(key({ json: { system: `${long}a` } })).toBe(key({ json: { system: `${long}b` } }));
  });

  test('can be read from any body', () => {
    const body = fc.dictionary(
      fc.constantFrom('system', 'messages', 'input', 'metadata', 'instructions', 'store'),
      fc.jsonValue(),
    );
    fc.assert(fc.property(body, (json) => void conversationOf(source({ json }))));
  });
});

describe('a session', () => {
  const turns = (first: string, system = 'You are') => ({
    json: {
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: first },
        { role: 'assistant', content: 'hm' },
        { role: 'user', content: 'and' },
      ],
    },
  });
  const session = (change: Partial<ConversationSource>) => conversationOf(source(change));

  test('is known by the first words of the user, once the model has spoken', () => {
    const one = session(turns('a'));
    expect(one.isContinued).toBe(true);
    expect(session(turns('a')).session).toBe(one.session);
    for (const other of [turns('b'), turns('a', 'x'), { ...turns('a'), model: 'other' }]) {
      expect(session(other).session).not.toBe(one.session);
    }
    expect(session({ json: { input: 'a' } })).toMatchObject({ key: null, isContinued: false });
    const contents = [
      { role: 'user', parts: [{ text: 'a' }] },
      { role: 'model', parts: [] },
    ];
    expect(session({ json: { contents } })).toMatchObject({ key: null, isContinued: true });
    const named = session({ json: { prompt_cache_key: 's', ...turns('a').json } });
    expect(named.session).toBe(named.key);
  });

  test('stays with its channel and credential while others of its prompt use another one', () => {
    const affinity = createChannelAffinity();
    affinity.noteUse(session(turns('one')), b, 0, 2);
    affinity.noteUse(session(turns('two')), c, 1, 1);
    expect(ids(affinity.prefer([a, b, c], session(turns('one')), 2))).toBe('bac');
    expect(ids(affinity.prefer([a, b, c], session(turns('three')), 2))).toBe('cab');
    expect(affinity.credentialOf(session(turns('one')), b, 2)).toBe(2);
    expect(affinity.credentialOf(session(turns('one')), c, 2)).toBe(-1);
    expect(affinity.credentialOf(session(turns('three')), c, 2)).toBe(-1);
  });

  test('remembers what each channel has refused, for as long as it is used', () => {
    const affinity = createChannelAffinity({ maxEntries: 8, ttlMs: 100 });
    const one = session(turns('one'));
    affinity.refused(one, b, 3, 0);
    expect(affinity.refusedBy(one, b, 0)).toBe(0);
    affinity.noteUse(one, b, 0);
    affinity.refused(one, b, 3, 0);
    for (const other of ['x', 'y', 'z']) affinity.noteUse(named(other), a, 1);
    affinity.noteUse(one, a, 1);
    expect([affinity.refusedBy(one, a, 2), affinity.refusedBy(one, b, 2)]).toEqual([0, 3]);
    expect(affinity.refusedBy(one, b, 102)).toBe(0);
  });
});

describe('the affinity', () => {
  test('prefers the channel used last', () => {
    const affinity = createChannelAffinity();
    expect(ids(affinity.prefer([a, b, c], named('s'), 0))).toBe('abc');
    affinity.noteUse(named('s'), c, 0);
    expect(ids(affinity.prefer([a, b, c], named('s'), 1))).toBe('cab');
    expect(ids(affinity.prefer([a, b, c], named('t'), 1))).toBe('abc');
    affinity.noteUse(named('s'), b, 1);
    expect(ids(affinity.prefer([a, b, c], named('s'), 2))).toBe('bac');
    expect(ids(affinity.prefer([a, c], named('s'), 2))).toBe('ac');
  });

  test('stays within the priority that the operator set', () => {
    const affinity = createChannelAffinity();
    const routes = [routeOf('high', 1), a, b];
    affinity.noteUse(named('s'), b, 0);
    expect(ids(affinity.prefer(routes, named('s'), 1))).toBe('highba');
  });

  test('does not put a channel with conversion before one without', () => {
    const affinity = createChannelAffinity();
    const speaks = ({ channel }: Route) => channel.id === 'a' || channel.id === 'b';
    affinity.noteUse(named('s'), c, 0);
    expect(ids(affinity.prefer([a, b, c], named('s'), 1, speaks))).toBe('abc');
    expect(ids(affinity.prefer([a, b, c], named('s'), 1))).toBe('cab');
    affinity.noteUse(named('s'), b, 1);
    expect(ids(affinity.prefer([a, b, c], named('s'), 2, speaks))).toBe('bac');
  });

  test('starts at the only upstream that has the state, whatever the priority', () => {
    const routes = [routeOf('high', 1), a, b, c];
    expect(ids(startingAt(routes, 'b'))).toBe('bhighac');
    expect(ids(startingAt(routes, 'gone'))).toBe('highabc');
  });

  test('forgets after its time', () => {
    const affinity = createChannelAffinity({ ttlMs: 100 });
    affinity.noteUse(named('s'), b, 0);
    expect(ids(affinity.prefer([a, b], named('s'), 99))).toBe('ba');
    affinity.noteUse(named('s'), b, 99);
    expect(ids(affinity.prefer([a, b], named('s'), 198))).toBe('ba');
    expect(ids(affinity.prefer([a, b], named('s'), 199))).toBe('ab');
  });

  test('forgets the least recently used when there are too many', () => {
    const affinity = createChannelAffinity({ maxEntries: 100 });
    for (let at = 0; at < 1_000; at += 1) {
      affinity.noteUse(named(String(at)), b, 0);
      affinity.noteUse(named('constant'), b, 0);
    }
    const known = (name: string) => ids(affinity.prefer([a, b], named(name), 1)) === 'ba';
    const remembered = Array.from({ length: 1_000 }, (_, at) => at).filter((at) =>
      known(String(at)),
    );
    expect(remembered.length).toBeGreaterThanOrEqual(49);
    expect(remembered.length).toBeLessThan(100);
    expect(remembered.at(0)).toBe(1_000 - remembered.length);
    expect(known('constant')).toBe(true);
  });

  test('keeps every channel in every order', () => {
    const priorities = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(priorities, fc.nat(), (list, which) => {
        const routes = list
          .toSorted((one, other) => other - one)
          .map((priority, index) => routeOf(String(index), priority));
        const affinity = createChannelAffinity();
        affinity.noteUse(named('s'), routes[which % routes.length]!, 0);
        const order = affinity.prefer(routes, named('s'), 1);
        expect(new Set(order)).toEqual(new Set(routes));
        const sorted = order.map(({ channel }) => channel.priority);
        expect(sorted).toEqual(sorted.toSorted((one, other) => other - one));
      }),
    );
  });
});
