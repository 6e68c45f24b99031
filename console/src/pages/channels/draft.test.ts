import { expect, test } from 'vitest';
import {
  bodyOf,
  cloneOf,
  mergeDrafts,
  vendorOf,
  vendorsOfKey,
  withoutSecrets,
  withVendor,
  type ChannelDetail,
  type ChannelForm,
  type Draft,
  type Vendor,
} from './draft.ts';

const draft: Draft = {
  name: 'azure-eu',
  provider: 'openai',
  base_url: 'https://api.openai.com/v1',
  protocols: ['chat'],
  api_keys: [{ hint: 'sk-…9f2a', number: 1 }],
  headers: { 'x-tenant': { hint: '…' } },
  models: [
    { name: 'gpt-5', upstream: 'gpt-5-eu' },
    { name: 'gpt-5-mini', upstream: '' },
  ],
  timeouts: { first_byte: '30s' },
  priority: 0,
  weight: 1,
  proxy: null,
};

test('a clone has a name of its own, and nothing that may be secret', () => {
  const channel = { ...draft, proxy: 'http://ann:hidden@proxy.example.com:3128' };
  const members = Object.keys(draft).map((name) => ({ name }));
  const vendors = [{ name: 'openai', provider: 'openai', base_url: null }];
  const form = { members, vendors } as unknown as ChannelForm;
  expect(cloneOf(channel as unknown as ChannelDetail, form, [{ name: 'openai' }])).toEqual({
    ...draft,
    name: 'openai-2',
    api_keys: [],
    headers: {},
    proxy: null,
  });
});

test('a body has what was changed, and nothing else', () => {
  expect(bodyOf(draft, draft)).toEqual({});
  const changed: Draft = {
    ...draft,
    api_keys: ['sk-new', { hint: 'sk-…9f2a', number: 1 }],
    headers: { 'x-other': 'one' },
    models: [
      { name: 'gpt-5', upstream: 'gpt-5' },
      { name: 'fast', upstream: 'gpt-5-mini' },
    ],
    base_url: '',
    weight: 3,
  };
  expect(bodyOf(draft, changed)).toEqual({
    api_keys: ['sk-new', { hint: 'sk-…9f2a', number: 1 }],
    headers: { 'x-tenant': null, 'x-other': 'one' },
    models: ['gpt-5', { name: 'fast', upstream: 'gpt-5-mini' }],
    base_url: null,
    weight: 3,
  });
});

test('of two people, each keeps what the other has not touched', () => {
  const theirs: Draft = {
    ...draft,
    priority: 5,
    weight: 9,
    models: [{ name: 'gpt-5', upstream: 'gpt-5-sweden' }, ...draft.models.slice(1)],
    timeouts: {},
  };
  const yours: Draft = {
    ...draft,
    weight: 2,
    models: [...draft.models, { name: 'new', upstream: '' }],
    headers: {},
  };
  const { merged, changes } = mergeDrafts(draft, theirs, yours);
  expect(merged).toEqual({
    ...draft,
    priority: 5,
    // Both changed it: what is about to be saved is what its writer sees.
    weight: 2,
    models: [
      { name: 'gpt-5', upstream: 'gpt-5-sweden' },
      { name: 'gpt-5-mini', upstream: '' },
      { name: 'new', upstream: '' },
    ],
    timeouts: {},
    headers: {},
  });
  expect(changes.map(({ member, part }) => [member, part])).toEqual([
    ['headers', 'x-tenant'],
    ['models', 'gpt-5'],
    ['models', 'new'],
    ['timeouts', 'first_byte'],
    ['priority', null],
    ['weight', null],
  ]);
  expect(changes.at(-1)).toMatchObject({ before: 1, theirs: 9, yours: 2 });
});

const vendor = (name: string, base_url: string | null, ...key_beginnings: string[]): Vendor => ({
  name,
  provider: name === 'groq' ? 'openai-compatible' : name,
  base_url,
  protocols: ['chat'],
  also_speaks: [],
  key_beginnings,
});
const vendors = [
  vendor('openai', 'https://api.openai.com/v1', 'sk-proj-', 'sk-'),
  vendor('openai-compatible', null),
  vendor('anthropic', 'https://api.anthropic.com/v1', 'sk-ant-'),
  vendor('groq', 'https://api.groq.com/openai/v1', 'gsk_'),
  vendor('deepseek', 'https://api.deepseek.com', 'sk-'),
];

test.each([
  ['sk-proj-abc', ['openai']],
  ['sk-ant-abc', ['anthropic']],
  ['gsk_abc', ['groq']],
  // Whose it is only the person knows: it is sent to neither before.
  ['sk-abc', ['openai', 'deepseek']],
  ['abc', []],
])('%s is a key of %s', (key, names) => {
  expect(vendorsOfKey(key, vendors).map(({ name }) => name)).toEqual(names);
});

test('a server that is known by its address is one of its provider', () => {
  const groq = withVendor(draft, vendors[3]!);
  expect(groq).toMatchObject({ provider: 'openai-compatible', base_url: vendors[3]?.base_url });
  expect(vendorOf(groq, vendors)?.name).toBe('groq');
  expect(vendorOf({ ...groq, base_url: 'http://vllm' }, vendors)?.name).toBe('openai-compatible');
  expect(vendorOf({ ...draft, base_url: 'http://azure' }, vendors)?.name).toBe('openai');
});

const gone = { ...draft, proxy: null };
test.each<[string, Partial<Draft>, Partial<Draft>, boolean]>([
  ['nothing secret', { weight: 7 }, { weight: 7 }, false],
  ['a key', { api_keys: ['sk-new', ...draft.api_keys] }, { api_keys: draft.api_keys }, true],
  ['a header', { headers: { a: 'secret' } }, { headers: { a: '' } }, true],
  ['a proxy with a password', { proxy: 'http://a:b@proxy' }, { proxy: null }, true],
  ['a proxy without one', { proxy: 'http://proxy' }, { proxy: 'http://proxy' }, false],
])('a draft with %s waits in the tab without it', (_what, typed, kept, hadSecrets) => {
  expect(withoutSecrets(gone, { ...gone, ...typed })).toEqual({
    draft: { ...gone, ...kept },
    hadSecrets,
  });
});
