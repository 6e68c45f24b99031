import { describe, expect, test } from 'vitest';
import type { CatalogueSnapshot, Channel, Route } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import { findCandidates, isNative, upstreamProtocols, type RouteQuery } from './candidates.ts';

const channel = (name: string, fields: Partial<Channel> = {}): Channel => ({
  id: `ch_${name}`,
  name,
  provider: 'openai',
  baseUrl: 'http://127.0.0.1:1/v1',
  resetAt: null,
  credentials: ['x'],
  protocols: ['chat'],
  groups: ['default'],
  priority: 0,
  weight: 1,
  userAgents: [],
  headers: {},
  timeouts: {},
  proxy: null,
  cache: 'auto',
  billsAfterCancel: false,
  state: 'guarded',
  sharedState: [],
  ...fields,
});

const snapshotOf = (...channels: Channel[]): CatalogueSnapshot => {
  const routes: Route[] = channels.map((each) => ({ channel: each, upstreamModel: 'up' }));
  return {
    revision: 1,
    models: new Map(),
    aliases: new Map(),
    aliasPatterns: [],
    unusedModels: new Set(),
    groups: new Map(),
    channels,
    routes: new Map([['default', new Map([['gpt', routes]])]]),
  };
};

const query: RouteQuery = {
  group: 'default',
  clientModel: 'gpt',
  servedNames: ['gpt'],
  protocol: 'chat',
  userAgent: 'curl/8',
};

/** A small generator with a fixed seed (mulberry32), so that weights can be counted. */
const seeded = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let value = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
  return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
};

const errorOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError) return error.errorName;
    throw error;
  }
  return 'none';
};

describe('candidates', () => {
  test('higher priority comes first, always', () => {
    const snapshot = snapshotOf(channel('low', { weight: 1000 }), channel('high', { priority: 1 }));
    const random = seeded(1);
    for (let round = 0; round < 100; round += 1) {
      const names = findCandidates(snapshot, query, random).map((route) => route.channel.name);
      expect(names).toEqual(['high', 'low']);
    }
  });

  test('equal priority shares by weight', () => {
    const snapshot = snapshotOf(channel('one'), channel('three', { weight: 3 }));
    const random = seeded(7);
    let first = 0;
    for (let round = 0; round < 4000; round += 1) {
      if (findCandidates(snapshot, query, random)[0]?.channel.name === 'three') first += 1;
    }
    expect(first / 4000).toBeGreaterThan(0.72);
    expect(first / 4000).toBeLessThan(0.78);
  });

  test('a weight of zero is a last resort', () => {
    const snapshot = snapshotOf(channel('spare', { weight: 0 }), channel('main'));
    const names = findCandidates(snapshot, query, seeded(3)).map((route) => route.channel.name);
    expect(names).toEqual(['main', 'spare']);
  });

  test('another group or model is not available', () => {
    const snapshot = snapshotOf(channel('main'));
    const run = (change: Partial<RouteQuery>) =>
      errorOf(() => findCandidates(snapshot, { ...query, ...change }, Math.random));
    expect(run({ group: 'other' })).toBe('model_not_available');
    expect(run({ servedNames: ['nope'] })).toBe('model_not_available');
    expect(run({})).toBe('none');
  });

  test('a channel of another protocol serves too, after its equals of the client’s', () => {
    const snapshot = snapshotOf(
      channel('other', { protocols: ['messages'], weight: 1000 }),
      channel('same'),
      channel('first', { protocols: ['responses'], priority: 1 }),
    );
    const random = seeded(5);
    for (let round = 0; round < 50; round += 1) {
      const names = findCandidates(snapshot, query, random).map((route) => route.channel.name);
      expect(names).toEqual(['first', 'same', 'other']);
    }
  });

  test('a query that names the protocols of upstreams gets no others, the first one first', () => {
    const snapshot = snapshotOf(
      channel('text'),
      channel('second', { protocols: ['generate-content'], weight: 1000 }),
      channel('first', { protocols: ['chat', 'images'] }),
    );
    const upstreams = ['images', 'generate-content'] as const;
    const random = seeded(5);
    for (let round = 0; round < 20; round += 1) {
      const names = findCandidates(snapshot, { ...query, upstreams }, random);
      expect(names.map((route) => route.channel.name)).toEqual(['first', 'second']);
    }
  });

  test('a channel without any text protocol serves nobody', () => {
    const snapshot = snapshotOf(channel('pictures', { protocols: ['images'] }));
    expect(errorOf(() => findCandidates(snapshot, query, Math.random))).toBe('model_not_available');
  });

  test('the client’s own protocol is used if possible, otherwise the first that is named', () => {
    const other = {
      provider: 'openai-compatible',
      protocols: ['images', 'responses', 'chat'],
    } as const;
    const route = { channel: channel('main', other), upstreamModel: 'up' };
    expect(upstreamProtocols(route, 'chat')).toEqual(['chat']);
    expect(upstreamProtocols(route, 'messages')).toEqual(['responses', 'chat']);
    const images = { ...route, channel: channel('pictures', { protocols: ['images'] }) };
    expect(upstreamProtocols(images, 'messages')).toEqual([]);
  });

  test.each([
    ['gpt-5.4', 'messages', ['responses', 'chat']],
    ['gpt-5.4', 'chat', ['chat']],
    ['gpt-4.1', 'messages', ['chat', 'responses']],
    ['gpt-5-codex', 'chat', ['responses']],
    ['gpt-4o-search-preview', 'responses', ['chat']],
  ] as const)(
    'the vendor knows where it serves %s for a client of %s',
    (upstreamModel, client, protocols) => {
      const both = channel('both', { protocols: ['chat', 'responses', 'images'] });
      expect(upstreamProtocols({ channel: both, upstreamModel }, client)).toEqual(protocols);
      expect(isNative({ channel: both, upstreamModel }, client)).toBe(protocols[0] === client);
    },
  );

  test('a channel that lists none of the vendor’s protocols for a model is believed', () => {
    const route = { channel: channel('chat-only'), upstreamModel: 'gpt-5-codex' };
    expect(upstreamProtocols(route, 'chat')).toEqual(['chat']);
  });

  test('only the client type prevents a route', () => {
    const snapshot = snapshotOf(channel('cli', { userAgents: ['claude-cli/*'] }));
    expect(errorOf(() => findCandidates(snapshot, query, Math.random))).toBe('client_not_allowed');
    const allowed = findCandidates(snapshot, { ...query, userAgent: 'claude-cli/2' }, Math.random);
    expect(allowed).toHaveLength(1);
  });
});
