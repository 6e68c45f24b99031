import fc from 'fast-check';
import type { TextProtocolName } from '#canonical/index.ts';

/** One request per protocol that says a little of everything, for tests that change it at random. */

const png = 'iVBORw0KGgo=';
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

export const wireRequests: Readonly<Record<TextProtocolName, Readonly<Record<string, unknown>>>> = {
  chat: {
    model: 'm',
    messages: [
      { role: 'system', content: 'Be brief.', name: 'host' },
      {
        role: 'user',
        name: 'ann',
        content: [
          { type: 'text', text: 'look', prompt_cache_breakpoint: {} },
          {
            type: 'image_url',
            image_url: { url: `data:image/png;base64,${png}`, detail: 'high' },
          },
          {
            type: 'file',
            file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' },
          },
          { type: 'thing', thing: 1 },
        ],
      },
      {
        role: 'assistant',
        content: 'so',
        refusal: null,
        reasoning_content: 'hm',
        reasoning_details: [{ type: 'reasoning.encrypted', data: 'AAAA', index: 0 }],
        annotations: [],
        tool_calls: [
          { id: 'call.1', type: 'function', function: { name: 'a b', arguments: '{"x":1}' } },
          { id: 'c2', type: 'custom', custom: { name: 'patch', input: 'free' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call.1', content: 'sunny' },
      { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'done' }] },
      { role: 'developer', content: 'Go on.' },
      { role: 'user', content: 'and?' },
    ],
    tools: [
      {
        type: 'function',
        function: { name: 'a b', description: 'd', parameters: schema, strict: true },
      },
      {
        type: 'custom',
        custom: {
          name: 'patch',
          format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } },
        },
      },
      { type: 'web_search', deep: true },
    ],
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'a b' } }] },
    },
    parallel_tool_calls: false,
    max_completion_tokens: 100,
    temperature: 0.5,
    top_p: 0.5,
    top_k: 3,
    presence_penalty: 1,
    frequency_penalty: 1,
    seed: 1,
    logit_bias: { 1: 1 },
    response_format: { type: 'json_schema', json_schema: { name: 'r', schema, strict: true } },
    verbosity: 'low',
    reasoning_effort: 'minimal',
    prompt_cache_key: 'k',
    safety_identifier: 'u',
    stream_options: { include_usage: true },
    metadata: { a: 'b' },
    service_tier: 'auto',
  },
  responses: {
    model: 'm',
    input: [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'rules' }] },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'look', prompt_cache_breakpoint: { mode: 'explicit' } },
          { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'low' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' },
          { type: 'thing' },
        ],
      },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'hm' }],
        encrypted_content: 'AAAA',
      },
      { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      {
        type: 'message',
        role: 'assistant',
        phase: 'final',
        content: [
          {
            type: 'output_text',
            text: 'so',
            annotations: [
              {
                type: 'url_citation',
                url: 'https://e.com',
                title: 't',
                start_index: 0,
                end_index: 1,
              },
            ],
          },
        ],
      },
      {
        type: 'function_call',
        call_id: 'call.1',
        name: 'a',
        namespace: 'ns',
        arguments: '{"x":1}',
      },
      { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: 'free' },
      { type: 'function_call_output', call_id: 'call.1', output: 'sunny' },
      {
        type: 'custom_tool_call_output',
        call_id: 'c2',
        output: [{ type: 'input_text', text: 'done' }],
      },
      { role: 'user', content: 'and?' },
    ],
    instructions: 'Be brief.',
    tools: [
      {
        type: 'namespace',
        name: 'ns',
        description: 'mine',
        tools: [
          { type: 'function', name: 'a', parameters: schema, strict: true, defer_loading: true },
        ],
      },
      {
        type: 'custom',
        name: 'patch',
        format: { type: 'grammar', syntax: 'regex', definition: 'x' },
        allowed_callers: ['x'],
      },
      { type: 'web_search' },
      { type: 'code_interpreter', container: { type: 'auto' } },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: false,
    max_output_tokens: 10,
    temperature: 0.5,
    top_p: 0.5,
    top_logprobs: 2,
    include: ['reasoning.encrypted_content'],
    text: { format: { type: 'json_schema', name: 'r', schema, strict: true }, verbosity: 'low' },
    reasoning: { effort: 'xhigh', summary: 'auto' },
    prompt_cache_key: 'k',
    safety_identifier: 'u',
    store: false,
    truncation: 'auto',
    metadata: { a: 'b' },
  },
  messages: {
    model: 'm',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'x' },
            title: 'a',
            citations: { enabled: true },
          },
          {
            type: 'search_result',
            source: 'https://e.com',
            title: 't',
            content: [{ type: 'text', text: 'found' }],
          },
          { type: 'thing' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'ErUB' },
          { type: 'redacted_thinking', data: 'AAAA' },
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
          { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
          {
            type: 'text',
            text: 'so',
            citations: [
              {
                type: 'web_search_result_location',
                url: 'https://e.com',
                title: 't',
                cited_text: 'x',
                encrypted_index: 'i',
              },
            ],
          },
          { type: 'tool_use', id: 'toolu_1', name: 'a', input: { x: 1 } },
          { type: 'tool_use', id: 'toolu_2', name: 'b', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            is_error: true,
            content: [
              { type: 'text', text: 'bad' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
            ],
          },
          { type: 'tool_result', tool_use_id: 'toolu_2', content: 'ok' },
          { type: 'text', text: 'and?' },
        ],
      },
    ],
    max_tokens: 20_000,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
    tools: [
      {
        name: 'a',
        description: 'd',
        input_schema: schema,
        strict: true,
        cache_control: { type: 'ephemeral' },
        defer_loading: true,
      },
      { name: 'b', input_schema: { type: 'object' }, allowed_callers: ['code_execution_20250825'] },
      { type: 'web_search_20250305', name: 'web_search', max_uses: 3 },
    ],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    temperature: 0.5,
    top_p: 0.5,
    top_k: 3,
    stop_sequences: [],
    thinking: { type: 'enabled', budget_tokens: 2000 },
    output_config: { effort: 'high', format: { type: 'json_schema', schema } },
    metadata: { user_id: 'u' },
    service_tier: 'auto',
    context_management: { edits: [] },
  },
  'generate-content': {
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    contents: [
      {
        role: 'user',
        parts: [
          { text: 'look' },
          { inlineData: { mimeType: 'image/png', data: png, displayName: 'p' } },
          { fileData: { mimeType: 'image/png', fileUri: 'https://e.com/a.png' } },
          { thing: 1 },
        ],
      },
      {
        role: 'model',
        parts: [
          { text: 'hm', thought: true },
          { executableCode: { language: 'PYTHON', code: 'print(1)' } },
          { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
          { functionCall: { name: 'a.b', args: { x: 1 } }, thoughtSignature: 'AAAA' },
          { functionCall: { name: 'c', args: {}, id: 'i' } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'c', id: 'i', response: { output: 'x' } } },
          { functionResponse: { name: 'a.b', response: { temperature: 20, unit: 'C' } } },
          { text: 'and?' },
        ],
      },
    ],
    tools: [
      {
        functionDeclarations: [
          {
            name: 'a.b',
            description: 'd',
            parameters: {
              type: 'OBJECT',
              properties: { city: { type: 'STRING', nullable: true } },
            },
          },
          { name: 'c', behavior: 'BLOCKING' },
        ],
      },
      { googleSearch: {} },
    ],
    toolConfig: { functionCallingConfig: { mode: 'VALIDATED', allowedFunctionNames: ['c'] } },
    generationConfig: {
      temperature: 0.5,
      topP: 0.5,
      topK: 3,
      maxOutputTokens: 100,
      presencePenalty: 1,
      frequencyPenalty: 1,
      seed: 1,
      responseMimeType: 'application/json',
      responseSchema: { type: 'OBJECT', properties: { a: { type: 'STRING' } } },
      thinkingConfig: { thinkingBudget: 2000, includeThoughts: true },
      mediaResolution: 'MEDIA_RESOLUTION_LOW',
    },
    safetySettings: [{ category: 'c', threshold: 't' }],
    labels: { a: 'b' },
  },
};

/** Things that stand where they should not. */
const oddities: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown[]>(
    null,
    true,
    0,
    -1,
    0.1,
    1e308,
    2 ** 60,
    '',
    ' ',
    'x',
    '__proto__',
    'constructor',
    'toString',
    'gw2.e30',
    'data:image/png;base64,AA',
    'https://example.com/a.png',
    'http://[',
    '\ud800',
    [],
    {},
    [null],
    [[]],
    [{}],
    { type: 'text' },
    { type: 'constructor' },
    { role: 'toString' },
    JSON.parse('{"__proto__":{"type":"text"},"constructor":1}'),
    Array.from({ length: 3000 }, () => 'x'),
    Array.from({ length: 300 }).reduce((inner) => [inner], {} as unknown),
    Array.from({ length: 200 }).reduce((inner) => ({ items: inner, type: 'array' }), {} as unknown),
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

export type Change = readonly [path: readonly number[], value: unknown, how: number];

/** Half of them lead into the conversation, which is the second member everywhere. */
const paths: fc.Arbitrary<number[]> = fc
  .tuple(fc.oneof(fc.constant(1), fc.nat(40)), fc.array(fc.nat(40), { maxLength: 7 }))
  .map(([first, others]) => [first, ...others]);

export const changes: fc.Arbitrary<Change[]> = fc.array(fc.tuple(paths, oddities, fc.nat(4)), {
  minLength: 1,
  maxLength: 4,
});

/** The value with things put in, left out, repeated or exchanged; paths wrap around, so that every one hits. */
export function changed(value: unknown, list: readonly Change[]): unknown {
  const copy: unknown = structuredClone(value);
  for (const change of list) apply(copy, change);
  return copy;
}

function apply(root: unknown, [path, value, how]: Change): void {
  let at = root as Record<string, unknown>;
  for (const [step, index] of path.entries()) {
    const keys = Object.keys(at);
    const key = keys[index % keys.length];
    if (key === undefined) return;
    const inner = at[key];
    const isLeaf = typeof inner !== 'object' || inner === null || Object.keys(inner).length === 0;
    if (step === path.length - 1 || isLeaf) return put(at, key, value, how);
    at = inner as Record<string, unknown>;
  }
}

function put(holder: Record<string, unknown>, key: string, value: unknown, how: number): void {
  if (how === 0 && !Array.isArray(holder)) delete holder[key];
  else if (how === 4 && !Array.isArray(holder)) holder['constructor'] = structuredClone(value);
  else if (how === 1 && Array.isArray(holder)) holder.push(structuredClone(holder[Number(key)]));
  else if (how === 2 && Array.isArray(holder)) holder.splice(Number(key), 1);
  else if (how === 3 && Array.isArray(holder)) holder.reverse();
  else holder[key] = structuredClone(value);
}
