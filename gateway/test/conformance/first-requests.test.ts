import { expect, test } from 'vitest';
import { shareGateway } from '../behaviour/support.ts';
import { applyPatch, codexSettings } from '../support/codex-request.ts';

/*
 * The first requests of coding agents, composed from known traffic: with the bundled catalogue and only a key they
 * pass, are priced, and reach the upstream byte for byte, betas included, but for a name that it refuses.
 */

const shared = shareGateway({
  config: `
channels:
  - { name: openai, provider: openai, base_url: SIMULATOR, api_key: key-1, models: [gpt-5.1, gpt-5-mini] }
  - { name: anthropic, provider: anthropic, base_url: SIMULATOR, api_key: key-2, models: [claude-sonnet-4-6, claude-haiku-4-5] }
  - { name: gemini, provider: gemini, base_url: SIMULATOR, api_key: key-3, models: [gemini-2.5-flash, gemini-3-flash-preview] }
# What an entry leaves out is the bundled one's: limits, price and fees.
models:
  - { id: gpt-5.1, type: chat }
  - { id: gpt-5-mini, type: chat }
  - { id: claude-sonnet-4-6, type: chat }
  - { id: claude-haiku-4-5, type: chat }
  - { id: gemini-2.5-flash, type: chat }
  - { id: gemini-3-flash-preview, type: chat }
`,
});

interface FirstRequest {
  readonly client: string;
  readonly path: string;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Its limit has the old name, which OpenAI's reasoning models refuse. */
  readonly rewrites?: 'p8';
}

const schema = (name: string) => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { [name]: { type: 'string', description: 'An absolute path' } },
  required: [name],
  additionalProperties: false,
});

const claudeCode = {
  'user-agent': 'claude-cli/2.1.328 (external, cli)',
  'anthropic-version': '2023-06-01',
  'anthropic-beta':
    'claude-code-20250219,context-1m-2025-08-07,interleaved-thinking-2025-05-14,context-management-2025-06-27,prompt-caching-scope-2026-01-05,effort-2025-11-24',
  'anthropic-dangerous-direct-browser-access': 'true',
  'x-app': 'cli',
};

const openCode = { 'user-agent': 'opencode/1.18.33 ai-sdk/provider-utils/3.0 runtime/bun/1.3' };

const ephemeral = { cache_control: { type: 'ephemeral' } };
const userId = 'user_0123456789abcdef_account__session_0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9';

const requests: readonly FirstRequest[] = [
  {
    client: 'Claude Code',
    path: '/v1/messages?beta=true',
    headers: claudeCode,
    body: {
      model: 'claude-sonnet-4-6',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '<system-reminder>\nToday is Friday.\n</system-reminder>' },
            { type: 'text', text: 'What does this repository do?', ...ephemeral },
          ],
        },
      ],
      system: [
        { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.328; cch=00000;' },
        { type: 'text', text: 'You are Claude Code, a command line tool.', ...ephemeral },
        { type: 'text', text: 'You help with software engineering tasks.', ...ephemeral },
      ],
      tools: [
        { name: 'Bash', description: 'Runs a command.', input_schema: schema('command') },
        { name: 'Read', description: 'Reads a file.', input_schema: schema('file_path') },
      ],
      metadata: { user_id: userId },
      max_tokens: 32_000,
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      stream: true,
    },
  },
  {
    client: 'Claude Code, its web search',
    path: '/v1/messages?beta=true',
    headers: claudeCode,
    body: {
      model: 'claude-sonnet-4-6',
      messages: [{ role: 'user', content: 'Perform a web search for the query: weather' }],
      system: [{ type: 'text', text: 'You are an assistant for performing a web search tool use' }],
      tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 8 }],
      tool_choice: { type: 'tool', name: 'web_search' },
      metadata: { user_id: userId },
      max_tokens: 32_000,
      stream: true,
    },
  },
  {
    client: 'Codex',
    path: '/v1/responses',
    headers: {
      'user-agent': 'codex_exec/0.169.0 (Linux; x86_64) dumb',
      originator: 'codex_exec',
      'session-id': '0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9',
    },
    body: {
      model: 'gpt-5.1',
      input: [
        {
          type: 'message',
          role: 'developer',
          content: [{ type: 'input_text', text: 'You are a coding agent.' }],
        },
        {
          type: 'message',
          role: 'user',
          content: [{ type: 'input_text', text: 'What does this repository do?' }],
        },
      ],
      tools: [
        {
          type: 'function',
          name: 'exec_command',
          description: 'Runs a command.',
          strict: false,
          parameters: schema('cmd'),
        },
        applyPatch,
        {
          type: 'namespace',
          name: 'mcp__docs',
          description: 'Documents.',
          tools: [{ type: 'function', name: 'find', strict: false, parameters: schema('words') }],
        },
        { type: 'web_search', external_web_access: true },
      ],
      ...codexSettings,
      service_tier: 'auto',
      prompt_cache_key: '0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9',
      text: { verbosity: 'medium' },
      client_metadata: { 'x-codex-installation-id': '1' },
    },
  },
  {
    client: 'Gemini CLI',
    path: '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    headers: { 'user-agent': 'GeminiCLI-tui/0.61.0/gemini-2.5-flash (linux; x64; terminal)' },
    body: {
      contents: [
        { role: 'user', parts: [{ text: '<session_context>\nLinux\n</session_context>' }] },
        { role: 'user', parts: [{ text: 'What does this repository do?' }] },
      ],
      systemInstruction: { role: 'user', parts: [{ text: 'You are an interactive agent.' }] },
      tools: [
        {
          functionDeclarations: [
            {
              name: 'read_file',
              description: 'Reads a file.',
              parametersJsonSchema: schema('file_path'),
            },
          ],
        },
      ],
      generationConfig: {
        temperature: 1,
        topP: 0.95,
        topK: 64,
        thinkingConfig: { includeThoughts: true, thinkingBudget: 8192 },
      },
    },
  },
  {
    client: 'Gemini CLI, its web search',
    path: '/v1beta/models/gemini-3-flash-preview:generateContent',
    headers: { 'user-agent': 'GeminiCLI-tui/0.61.0/gemini-2.5-flash (linux; x64; terminal)' },
    body: {
      contents: [{ role: 'user', parts: [{ text: 'weather' }] }],
      tools: [{ googleSearch: {} }],
      generationConfig: { temperature: 0, topP: 1, thinkingConfig: { thinkingBudget: -1 } },
    },
  },
  {
    client: 'opencode, the title',
    rewrites: 'p8',
    path: '/v1/chat/completions',
    headers: openCode,
    body: {
      model: 'gpt-5-mini',
      max_tokens: 32_000,
      messages: [
        { role: 'system', content: 'You are a title generator.' },
        { role: 'user', content: 'Generate a title for this conversation:\n' },
        { role: 'user', content: 'What does this repository do?' },
      ],
      stream: true,
      stream_options: { include_usage: true },
    },
  },
  {
    client: 'opencode',
    rewrites: 'p8',
    path: '/v1/chat/completions',
    headers: openCode,
    body: {
      model: 'gpt-5-mini',
      max_tokens: 32_000,
      messages: [
        { role: 'system', content: 'You are opencode, an agent.' },
        { role: 'user', content: [{ type: 'text', text: 'What does this repository do?' }] },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'bash', description: 'Runs a command.', parameters: schema('command') },
        },
      ],
      tool_choice: 'auto',
      stream: true,
      stream_options: { include_usage: true },
    },
  },
];

test.each(requests)('$client', async ({ path, body, headers = {}, rewrites = null }) => {
  const { gateway } = shared;
  gateway.simulator.clear();
  const sent = JSON.stringify(body);
  const response = await gateway.post(path, sent, headers);
  const text = await response.text();
  expect([response.status, text.slice(0, 200)]).toEqual([200, expect.any(String)]);
  expect(response.headers.get('x-sluice-rewrites')).toBe(rewrites);
  expect(response.headers.get('x-sluice-conversion')).toBeNull();
  const received = gateway.simulator.requests();
  expect(received.map((request) => request.body)).toEqual([
    rewrites === null ? sent : sent.replace('"max_tokens"', '"max_completion_tokens"'),
  ]);
  const forwarded = Object.fromEntries(received[0]?.headers ?? []) as Record<string, string>;
  for (const name of ['anthropic-beta', 'anthropic-version', 'user-agent']) {
    expect([name, forwarded[name]]).toEqual([name, headers[name] ?? forwarded[name]]);
  }
  const rows = await gateway.usage();
  expect(rows[0]).toMatchObject({ outcome: 'completed', estimated: false });
  expect(Number(rows[0]?.cost)).toBeGreaterThan(0);
});

test('a long-context beta is dropped where the window is short, and nothing else changes', async () => {
  const { gateway } = shared;
  gateway.simulator.clear();
  const [{ body }] = requests as [FirstRequest];
  const response = await gateway.post(
    '/v1/messages',
    { ...body, model: 'claude-haiku-4-5', thinking: undefined, output_config: undefined },
    claudeCode,
  );
  await response.text();
  expect(response.status).toBe(200);
  expect(response.headers.get('x-sluice-rewrites')).toContain('beta.context-1m');
  const betas = new Map(gateway.simulator.requests()[0]?.headers).get('anthropic-beta');
  expect(betas).toBe(claudeCode['anthropic-beta'].replace('context-1m-2025-08-07,', ''));
  const [row] = await gateway.usage();
  expect(row?.rewrites).toContain('beta.context-1m');
});
