import { describe, expect, it } from 'vitest';
import { bearer, call, model, snapshotOf, startGateway } from './support.ts';

const catalogue = snapshotOf(
  [
    model('gpt'),
    model('claude', { displayName: 'Claude', contextWindow: null, maxOutputTokens: null }),
    model('paint', { type: 'image' }),
    model('film', { type: 'video' }),
    model('off', { enabled: false }),
    model('vendor/model:1'),
  ],
  { fast: 'gpt', gone: 'missing', 'also-off': 'off' },
);
const snapshot = () => catalogue;

describe('GET /v1/models', () => {
  it('is one list that both protocols can parse', async () => {
    const gateway = await startGateway({ snapshot });
    const { json, headers } = await call(gateway.port, '/v1/models?unknown=1', {
      headers: bearer(),
    });
    expect(headers['content-type']).toBe('application/json');
    const list: Record<string, unknown> = json ?? {};
    expect(Object.keys(list)).toEqual(['object', 'data', 'has_more', 'first_id', 'last_id']);
    expect(list).toMatchObject({
      object: 'list',
      has_more: false,
      first_id: 'claude',
      last_id: 'vendor/model:1',
    });
    const data = list['data'] as { id: string }[];
    expect(data.map(({ id }) => id)).toEqual([
      'claude',
      'fast',
      'film',
      'gpt',
      'paint',
      'vendor/model:1',
    ]);
    expect(data[0]).toEqual({
      id: 'claude',
      object: 'model',
      type: 'model',
      created: Date.UTC(2026, 0, 2, 3, 4, 5) / 1000,
      created_at: '2026-01-02T03:04:05Z',
      owned_by: 'owner',
      display_name: 'Claude',
      model_type: 'chat',
      max_input_tokens: null,
      max_tokens: null,
      lifecycle: 'active',
      deprecated_at: null,
      retires_at: null,
      model_capabilities: [],
    });
  });

  it.each([
    ['limit=2', ['claude', 'fast'], true],
    ['limit=1000', ['claude', 'fast', 'film', 'gpt', 'paint', 'vendor/model:1'], false],
    ['limit=0', ['claude', 'fast', 'film', 'gpt', 'paint', 'vendor/model:1'], false],
    ['limit=2&after_id=fast', ['film', 'gpt'], true],
    ['after_id=gpt', ['paint', 'vendor/model:1'], false],
    ['after_id=zzz', [], false],
    ['limit=2&before_id=gpt', ['fast', 'film'], true],
    ['before_id=film', ['claude', 'fast'], false],
  ])('?%s', async (query, ids, hasMore) => {
    const gateway = await startGateway({ snapshot });
    const { json } = await call(gateway.port, `/v1/models?${query}`, { headers: bearer() });
    expect(json).toMatchObject({
      data: ids.map((id) => ({ id })),
      has_more: hasMore,
      first_id: ids[0] ?? null,
      last_id: ids.at(-1) ?? null,
    });
  });

  it('has an entry for Codex of every model that writes text, since Codex gives up its own list for this one', async () => {
    const offered = snapshotOf(
      [
        model('claude', { capabilities: new Set(['vision', 'reasoning', 'tools']) }),
        ...['gpt-4o', 'gpt-5', 'gpt-5.1-mini', 'gpt-5.5', 'gpt-6.1-sol'].map((id) => model(id)),
        model('gpt-oss-120b', { contextWindow: null }),
        model('paint', { type: 'image' }),
      ],
      { 'codex-auto-review': 'claude', small: 'gpt-oss-120b' },
    );
    const gateway = await startGateway({ snapshot: () => offered });
    const path = '/v1/models?client_version=0.171.0';
    const { json } = await call(gateway.port, path, { headers: bearer() });
    const [first, ...others] = (json as unknown as { models: Record<string, unknown>[] }).models;
    expect(others.map(({ slug }) => slug)).toEqual([
      'codex-auto-review',
      'gpt-4o',
      'gpt-5',
      'gpt-5.1-mini',
      'gpt-5.5',
      'gpt-6.1-sol',
      'gpt-oss-120b',
      'small',
    ]);
    const { base_instructions: instructions, ...entry } = first ?? {};
    expect(instructions).toContain('*** Begin Patch');
    // Codex 0.171 reads this entry.
    expect(entry).toEqual({
      slug: 'claude',
      display_name: 'CLAUDE',
      description: null,
      default_reasoning_level: null,
      supported_reasoning_levels: ['low', 'medium', 'high'].map((effort) => ({
        effort,
        description: expect.any(String) as string,
      })),
      shell_type: 'default',
      visibility: 'list',
      supported_in_api: true,
      priority: 1000,
      upgrade: null,
      supports_reasoning_summaries: true,
      support_verbosity: false,
      default_verbosity: null,
      apply_patch_tool_type: 'freeform',
      truncation_policy: { mode: 'bytes', limit: 10_000 },
      supports_parallel_tool_calls: true,
      context_window: 1000,
      experimental_supported_tools: [],
      input_modalities: ['text', 'image'],
    });
    expect(others[1]).toMatchObject({ slug: 'gpt-4o', apply_patch_tool_type: null });
    expect(others.at(-1)).toMatchObject({
      input_modalities: ['text'],
      supported_reasoning_levels: [],
      apply_patch_tool_type: 'freeform',
    });
    expect(others.at(-1)).not.toHaveProperty('context_window');
  });

  it('adds generate-content entries for the SDKs of that protocol', async () => {
    const gateway = await startGateway({ snapshot });
    for (const extra of [
      { 'x-goog-api-client': 'google-genai-sdk/3.1.0' },
      { 'user-agent': 'google-genai-sdk/2.32 gl-node/26' },
    ]) {
      const headers = { ...bearer(), ...extra };
      const list: Record<string, unknown> =
        (await call(gateway.port, '/v1/models', { headers })).json ?? {};
      expect(list['data']).toHaveLength(6);
      expect(list['models']).toHaveLength(5);
      const one = await call(gateway.port, '/v1/models/claude', { headers });
      expect(one.json).toMatchObject({ id: 'claude', name: 'models/claude' });
    }
  });

  it('shows only what the key may use and its group serves', async () => {
    const allowed = await startGateway({
      snapshot,
      caller: { models: new Set(['fast', 'claude', 'off', 'missing']) },
    });
    const ids = async (port: number): Promise<string[]> => {
      const { json } = await call(port, '/v1/models', { headers: bearer() });
      const list: Record<string, unknown> = json ?? {};
      return (list['data'] as { id: string }[]).map(({ id }) => id);
    };
    expect(await ids(allowed.port)).toEqual(['claude', 'fast']);
    const groups = new Map([['other', { name: 'other', priceMultiplier: '1' }]]);
    const other = { ...catalogue, groups };
    const elsewhere = await startGateway({ snapshot: () => other, caller: { group: 'other' } });
    expect(await ids(elsewhere.port)).toEqual([]);
    const disabled = await startGateway({ snapshot, caller: { group: 'other' } });
    const refusal = await call(disabled.port, '/v1/models', { headers: bearer() });
    expect(refusal).toMatchObject({ status: 403, json: { error: { type: 'permission_error' } } });
  });

  it('follows the catalogue', async () => {
    let current = snapshotOf([model('a')]);
    const gateway = await startGateway({ snapshot: () => current });
    const last = async (): Promise<unknown> =>
      (await call(gateway.port, '/v1/models', { headers: bearer() })).json?.['last_id'];
    expect(await last()).toBe('a');
    current = snapshotOf([model('a'), model('b')]);
    expect(await last()).toBe('b');
  });

  it('has 1 000 models on one page', async () => {
    const many = snapshotOf(Array.from({ length: 1000 }, (_, index) => model(`model-${index}`)));
    const gateway = await startGateway({ snapshot: () => many });
    const response = await call(gateway.port, '/v1/models?limit=1000', { headers: bearer() });
    const { data } = JSON.parse(response.text) as { data: { id: string }[] };
    expect(new Set(data.map(({ id }) => id)).size).toBe(1000);
  });
});

describe('one model', () => {
  it.each([
    ['/v1/models/gpt', 200],
    ['/v1/models/fast', 200],
    ['/v1/models/vendor/model:1', 200],
    ['/v1/models/vendor%2Fmodel%3A1', 200],
    ['/v1/models/film', 200],
    ['/v1/models/off', 404],
    ['/v1/models/missing', 404],
    ['/v1/models/..%2fgpt', 404],
    ['/v1/models/%67pt%00', 404],
    ['/v1beta/models/gpt', 200],
    ['/v1beta/models/vendor/model:1', 200],
    ['/v1beta/models/film', 404],
    ['/v1beta/models/missing', 404],
  ])('%s → %i', async (path, expected) => {
    const gateway = await startGateway({ snapshot });
    const response = await call(gateway.port, path, { headers: bearer() });
    expect(response.status).toBe(expected);
    const id = decodeURIComponent(path.slice(path.indexOf('models/') + 7));
    if (expected === 200) {
      expect(response.json).toMatchObject(
        path.startsWith('/v1beta') ? { name: `models/${id}` } : { id },
      );
    } else {
      const printed = id.replace('\u0000', '\ufffd');
      expect(response.text).toContain(`model '${printed}' not found`);
    }
  });

  it('outside the allowlist is hidden', async () => {
    const gateway = await startGateway({ snapshot, caller: { models: new Set(['gpt']) } });
    const status = async (path: string): Promise<number> =>
      (await call(gateway.port, path, { headers: bearer() })).status;
    expect(await status('/v1/models/gpt')).toBe(200);
    expect(await status('/v1/models/claude')).toBe(404);
    expect(await status('/v1beta/models/claude')).toBe(404);
  });
});

describe('GET /v1beta/models', () => {
  it('lists what the protocol can call', async () => {
    const gateway = await startGateway({ snapshot });
    const { json } = await call(gateway.port, '/v1beta/models', { headers: bearer() });
    const list: Record<string, unknown> = json ?? {};
    expect(Object.keys(list)).toEqual(['models']);
    const models = list['models'] as Record<string, unknown>[];
    expect(models.map(({ baseModelId }) => baseModelId)).toEqual([
      'claude',
      'fast',
      'gpt',
      'paint',
      'vendor/model:1',
    ]);
    expect(models[1]).toEqual({
      name: 'models/fast',
      baseModelId: 'fast',
      version: '001',
      displayName: 'GPT',
      description: 'GPT',
      inputTokenLimit: 1000,
      outputTokenLimit: 100,
      supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
    });
    expect(models[0]).not.toHaveProperty('inputTokenLimit');
  });

  it('pages', async () => {
    const gateway = await startGateway({ snapshot });
    const seen: unknown[] = [];
    let token = '';
    for (let page = 0; page < 10; page++) {
      const path = `/v1beta/models?pageSize=2&pageToken=${token}`;
      const { json } = await call(gateway.port, path, { headers: bearer() });
      const list: Record<string, unknown> = json ?? {};
      const models = list['models'] as Record<string, unknown>[];
      seen.push(models.map(({ baseModelId }) => baseModelId));
      if (typeof list['nextPageToken'] !== 'string') break;
      token = list['nextPageToken'];
    }
    expect(seen).toEqual([['claude', 'fast'], ['gpt', 'paint'], ['vendor/model:1']]);
  });
});
