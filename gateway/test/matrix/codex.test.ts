import { describe, expect, test } from 'vitest';
import { rowOf, shareGateway } from '../behaviour/support.ts';
import { payloads, readEvents } from '../recordings/tap-run.ts';
import { applyPatch, codexSettings } from '../support/codex-request.ts';
import { png } from './features/feature.ts';
import { describeServed } from './gateway.ts';

/** Codex on upstreams of other protocols: requests as it sends them, tools of all the kinds it has, one conversation. */

const upstreams = ['chat', 'messages', 'generate-content'] as const;
/** Says in its name, for generateContent, that calls are refused without their signature. */
const upstreamModels = {
  chat: 'demo-reasoning',
  messages: 'demo-reasoning',
  'generate-content': 'gemini-3-reasoning',
};

const shared = shareGateway({
  config: describeServed(
    upstreams.map((name) => ({
      name: `only-${name}`,
      protocols: [name],
      models: [[`at-${name}`, upstreamModels[name]]] as const,
    })),
  ),
});

const strings = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  required: names,
  additionalProperties: false,
});
const tools = [
  { type: 'function', name: 'exec_command', strict: false, parameters: strings('cmd', 'workdir') },
  { type: 'function', name: 'view_image', strict: false, parameters: strings('path') },
  applyPatch,
  {
    type: 'namespace',
    name: 'mcp__files',
    description: 'Files.',
    tools: [{ type: 'function', name: 'read', strict: false, parameters: strings('path') }],
  },
  { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters: {} },
  { type: 'web_search', external_web_access: false },
];

const said = (role: string, text: string) => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
});
const beginning = [
  said('developer', '<permissions instructions>You may write.</permissions instructions>'),
  said('user', '# AGENTS.md instructions\n\nBe brief.'),
];

const bodyOf = (model: string, input: readonly object[]) => ({
  model,
  input,
  tools,
  ...codexSettings,
  prompt_cache_key: '019a9f3c-0000-7000-8000-000000000001',
  text: { verbosity: 'low' },
  client_metadata: { 'x-codex-installation-id': '5d2f' },
});

interface Item {
  readonly type: string;
  readonly id?: string;
  readonly status?: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly input?: string;
  readonly encrypted_content?: string;
  readonly content?: readonly { text: string }[];
}

/** What Codex gives back of an item: no id, and thoughts without their text. */
function kept(item: Item): object {
  const { id: _, status: __, ...rest } = item;
  return item.type === 'reasoning' ? { ...rest, content: null } : rest;
}

/** One request of a conversation, and the conversation with its response. */
async function ask(model: string, input: readonly object[]) {
  const response = await shared.gateway.post('/v1/responses', bodyOf(model, input), {
    'user-agent': 'codex_exec/0.169.0 (Linux; x86_64)',
    originator: 'codex_exec',
    'session-id': '019a9f3c-0000-7000-8000-000000000001',
  });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, expect.stringContaining('event:')]);
  const events = payloads(readEvents([Buffer.from(text)])) as { type: string; item?: Item }[];
  expect(events.at(-1)?.type).toBe('response.completed');
  // It takes items as they are done, not from the last event.
  const items = events.flatMap(({ type, item }) =>
    type === 'response.output_item.done' && item !== undefined ? [item] : [],
  );
  const texts = items.flatMap(({ type, content = [] }) => (type === 'message' ? content : []));
  return {
    items,
    calls: items.filter(({ type }) => type.endsWith('_call')),
    thoughts: items.filter(({ type }) => type === 'reasoning'),
    text: texts.map((part) => part.text).join(''),
    id: response.headers.get('x-request-id') ?? '',
    history: [...input, ...items.map(kept)],
  };
}

const image = [{ type: 'input_image', image_url: `data:image/png;base64,${png}` }];
const resultOf = ({ type, call_id: id, name }: Item, at: number) =>
  type === 'tool_search_call'
    ? { type: 'tool_search_output', call_id: id, execution: 'client', tools: [] }
    : {
        type: `${type}_output`,
        call_id: id,
        output: name === 'view_image' ? image : `result ${at}`,
      };

/** What the simulator signed comes back to it; in chat its text is its state. */
const signed = {
  chat: null,
  messages: /"signature":"c2ltdWxhdG9y/g,
  'generate-content': /"thoughtSignature":"c2ltdWxhdG9y/g,
};

/** Nothing of thoughts, calls or results is among what is lost. */
const lost = [
  'dropped:cache_key',
  'dropped:namespace.description',
  'approximated:tools.custom',
  'approximated:tools.namespace',
  'approximated:tools.tool_search',
  'dropped:tools.web_search',
  'dropped:verbosity',
];

const byName = (a: string, b: string) => (a.split(':')[1]! < b.split(':')[1]! ? -1 : 1);

describe.each(upstreams)('codex at %s', (upstream) => {
  const model = `at-${upstream}`;

  test('three turns with calls of every kind, reasoning and results', async () => {
    const { simulator } = shared.gateway;
    const first = await ask(model, [...beginning, said('user', 'call tools')]);
    expect(first.calls).toMatchObject([
      { type: 'function_call', name: 'exec_command', call_id: expect.any(String) },
      { type: 'function_call', name: 'view_image' },
      { type: 'custom_tool_call', name: 'apply_patch', input: 'demo input' },
      { type: 'function_call', name: 'read', namespace: 'mcp__files' },
      { type: 'tool_search_call', execution: 'client', arguments: {} },
    ]);
    expect(first.calls[0]).not.toHaveProperty('namespace');
    const told = await ask(model, [...first.history, ...first.calls.map(resultOf)]);
    expect(told.calls).toEqual([]);
    expect(told.text).toContain('demo answer');
    const results = simulator.requests().at(-1)?.body ?? '';
    for (const part of ['result 0', png, 'result 2', 'result 3', 'No tools were found.'])
      expect(results).toContain(part);

    const next = await ask(model, [...told.history, said('user', 'call tool apply_patch')]);
    expect(next.calls).toMatchObject([{ type: 'custom_tool_call', name: 'apply_patch' }]);
    const patched = await ask(model, [...next.history, ...next.calls.map(resultOf)]);
    expect(patched.text).toContain('"result 0"');

    const last = await ask(model, [...patched.history, said('user', 'goodbye')]);
    expect(last.text).toContain('goodbye');
    const body = simulator.requests().at(-1)?.body ?? '';
    for (const part of ['You may write.', 'Be brief.', 'demo input', 'result 3', 'goodbye']) {
      expect(body).toContain(part);
    }
    expect(body).not.toContain('gw2.');

    for (const { thoughts } of [first, told, next, patched, last]) {
      expect(thoughts).not.toEqual([]);
      const sealed = thoughts.filter(({ encrypted_content: state }) => state !== undefined);
      // Gemini signs the text after it was streamed, where only memory has room.
      if (upstream === 'generate-content') expect(sealed.length).toBeLessThanOrEqual(1);
      else expect(sealed).toHaveLength(1);
    }
    const pattern = signed[upstream];
    if (pattern !== null) expect(body.match(pattern)).toHaveLength(4);
    expect((await rowOf(shared.gateway, first.id)).losses).toEqual(lost);
    // Pictures of tools stand in a message of their own in chat.
    const moved = upstream === 'chat' ? ['approximated:tool_result.media'] : [];
    expect((await rowOf(shared.gateway, last.id)).losses).toEqual(
      [...lost, ...moved].toSorted(byName),
    );
  });
});
