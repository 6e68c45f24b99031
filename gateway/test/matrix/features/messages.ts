import { citySchema, inArea, paper, pdf, picture, png, type ClientFeatures } from './feature.ts';

const user = (content: unknown) => ({ role: 'user', content });
const said = (...messages: object[]) => ({ messages });
const text = { type: 'text', text: 'look' };
const withBlock = (block: object) => ({
  body: said(user([text, block])),
  without: said(user([text])),
});
const tool = (name: string, more: object = {}) => ({ name, input_schema: citySchema, ...more });
const tools = [tool('get_weather'), tool('get_time')];
const withTools = (more: object) => ({ body: { tools, ...more }, without: { tools } });
const call = (id: string, name = 'get_weather') => ({
  type: 'tool_use',
  id,
  name,
  input: { city: 'Ulm' },
});
const result = (id: string, content: unknown, more: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...more,
});
const called = (calls: object[], results: object[]) => ({
  tools,
  ...said(user('hello'), { role: 'assistant', content: calls }, user(results)),
});
const looped = called([call('toolu_1')], [result('toolu_1', 'sunny')]);
const withResult = (block: object) => ({
  body: called([call('toolu_1')], [result('toolu_1', [text, block])]),
  without: called([call('toolu_1')], [result('toolu_1', [text])]),
});
const hi = { type: 'text', text: 'hi' };
const after = (...blocks: object[]) => ({
  body: said(user('hello'), { role: 'assistant', content: [...blocks, hi] }, user('and now?')),
  without: said(user('hello'), { role: 'assistant', content: [hi] }, user('and now?')),
});
const image = (source: object) => ({ type: 'image', source });
const bytes = { type: 'base64', media_type: 'image/png', data: png };
const marker = { cache_control: { type: 'ephemeral' } };
const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const paperBytes = { type: 'base64', media_type: 'application/pdf', data: pdf };

export const messages: ClientFeatures = {
  client: 'messages',
  plain: { max_tokens: 4000, messages: [user('hello')] },
  features: [
    ...inArea('The conversation', [
      { name: '`system`', body: { system: 'Be brief.' } },
      { name: '`system` in several blocks', body: { system: [hi, text] } },
      {
        name: "Claude Code's attribution line",
        why: 'names the user of Claude Code; irrelevant to other models',
        body: { system: [{ type: 'text', text: 'x-anthropic-billing-header: a' }, hi] },
        without: { system: [hi] },
        harmless: true,
      },
      {
        name: '`system` message later',
        why: "generateContent, and templates of open models, have system text only before the conversation: it is said in the user's turn",
        body: said(user('hello'), { role: 'system', content: 'Be brief.' }, user('and?')),
        without: said(user('hello'), user('and?')),
      },
      {
        name: 'several turns',
        body: said(user('hello'), { role: 'assistant', content: 'hi' }, user('and now?')),
      },
      { name: 'several text blocks', ...withBlock({ type: 'text', text: 'again' }) },
      {
        name: 'a prefilled response',
        body: said(user('hello'), { role: 'assistant', content: 'I say' }),
      },
      {
        name: '`search_result`',
        why: 'its content is carried as text, but cannot be cited',
        ...withBlock({
          type: 'search_result',
          title: 'A',
          source: 'https://a.example',
          content: [{ type: 'text', text: 'found' }],
        }),
      },
      {
        name: 'an unknown block',
        why: 'unknown to every other protocol',
        ...withBlock({ type: 'x_unknown', value: 1 }),
      },
    ]),
    ...inArea('Media', [
      { name: 'image, data', ...withBlock(image(bytes)) },
      { name: 'image, address', ...withBlock(image({ type: 'url', url: picture })) },
      {
        name: 'image, `transformations`',
        why: 'every other API shrinks a large image by itself',
        ...withBlock({ ...image(bytes), transformations: { image_exceeds_limit: 'error' } }),
      },
      {
        name: 'image, `file_id`',
        why: 'a file kept by another vendor cannot be read: send its bytes',
        ...withBlock(image({ type: 'file', file_id: 'file_1' })),
      },
      { name: '`document`, PDF', ...withBlock({ type: 'document', source: paperBytes }) },
      {
        name: '`document`, address',
        ...withBlock({ type: 'document', source: { type: 'url', url: paper } }),
      },
      {
        name: '`document`, text',
        why: 'chat takes only PDF, so the text goes into the message',
        ...withBlock({
          type: 'document',
          source: { type: 'text', media_type: 'text/plain', data: 'some text' },
        }),
      },
      {
        name: '`document.title`',
        why: 'generateContent has none',
        body: said(user([{ type: 'document', source: paperBytes, title: 'A' }])),
        without: said(user([{ type: 'document', source: paperBytes }])),
      },
      {
        name: '`document.context`',
        why: 'only messages has it',
        body: said(user([{ type: 'document', source: paperBytes, context: 'old' }])),
        without: said(user([{ type: 'document', source: paperBytes }])),
      },
      {
        name: '`document.citations`',
        why: 'only messages has it',
        body: said(user([{ type: 'document', source: paperBytes, citations: { enabled: true } }])),
        without: said(user([{ type: 'document', source: paperBytes }])),
      },
      {
        name: '`container_upload`',
        why: 'a file kept by the vendor',
        ...withBlock({ type: 'container_upload', file_id: 'file_1' }),
      },
    ]),
    ...inArea('Tools', [
      { name: 'tools', body: { tools } },
      {
        name: "a tool's `strict`",
        why: 'generateContent has no such switch per function',
        body: { tools: [tool('now', { strict: true })] },
        without: { tools: [tool('now')] },
      },
      {
        name: "a tool's `cache_control`",
        why: 'tools have no cache markers there',
        body: { tools: [tool('now', marker)] },
        without: { tools: [tool('now')] },
      },
      {
        name: "a tool's `input_examples`",
        why: 'only messages has them',
        body: { tools: [tool('now', { input_examples: [{ city: 'Ulm' }] })] },
        without: { tools: [tool('now')] },
      },
      {
        name: '`eager_input_streaming`',
        why: 'arguments are always streamed',
        body: { tools: [tool('now', { eager_input_streaming: true })] },
        without: { tools: [tool('now')] },
        harmless: true,
      },
      {
        name: '`defer_loading`, `allowed_callers`',
        why: 'no other vendor searches among tools or calls them from code',
        body: { tools: [tool('now', { defer_loading: true, allowed_callers: ['direct'] })] },
        without: { tools: [tool('now')] },
        things: 2,
      },
      { name: 'names of 80 characters', body: { tools: [tool('b'.repeat(80))] } },
      { name: '`tool_choice: auto`', ...withTools({ tool_choice: { type: 'auto' } }) },
      { name: '`tool_choice: none`', ...withTools({ tool_choice: { type: 'none' } }) },
      { name: '`tool_choice: any`', ...withTools({ tool_choice: { type: 'any' } }) },
      {
        name: '`tool_choice: tool`',
        ...withTools({ tool_choice: { type: 'tool', name: 'get_time' } }),
      },
      {
        name: '`disable_parallel_tool_use`',
        why: 'generateContent has no such option',
        body: { tools, tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
        without: { tools, tool_choice: { type: 'auto' } },
      },
      { name: 'a call and its result', body: looped, without: { tools } },
      {
        name: 'parallel calls and their results',
        body: called(
          [call('toolu_1'), call('toolu_2', 'get_time')],
          [result('toolu_1', 'sunny'), result('toolu_2', 'noon')],
        ),
        without: looped,
      },
      {
        name: 'a call without its result',
        why: 'only messages allows it; an error result states that there was none',
        body: called([call('toolu_1'), call('toolu_2')], [result('toolu_1', 'sunny')]),
        without: looped,
      },
      {
        name: 'a result without its call',
        why: 'every upstream refuses it; it becomes a user message',
        body: said(user([result('toolu_9', 'sunny')])),
      },
      {
        name: '`is_error`',
        why: 'stated in words if there is no such mark',
        body: called([call('toolu_1')], [result('toolu_1', 'no such city', { is_error: true })]),
        without: called([call('toolu_1')], [result('toolu_1', 'no such city')]),
      },
      {
        name: 'image in a result',
        why: 'follows in a user message, since results in chat are text',
        ...withResult(image(bytes)),
      },
      {
        name: '`document` in a result',
        why: 'follows in a user message, since results in chat are text',
        ...withResult({ type: 'document', source: paperBytes }),
      },
      {
        name: 'hosted `web_search`',
        why: 'carried to models with `hosted_tools` in the catalogue',
        body: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      },
      {
        name: 'hosted `code_execution`',
        why: 'carried to models with `hosted_tools` in the catalogue',
        body: { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] },
      },
      {
        name: 'hosted `web_fetch`',
        why: 'carried to generateContent models with `hosted_tools` in the catalogue',
        body: { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] },
      },
      {
        name: 'typed client tools (`bash`, `text_editor`, `computer`)',
        why: 'becomes a function with the schema that clients of the type expect',
        body: { tools: [{ type: 'bash_20250124', name: 'bash' }] },
      },
      {
        name: 'a hosted tool that is forced',
        why: 'the upstream cannot make the call',
        body: {
          tools: [{ type: 'web_search_20250305', name: 'web_search' }],
          tool_choice: { type: 'tool', name: 'web_search' },
        },
      },
      {
        name: 'a hosted tool’s trace in the history',
        why: 'only its vendor understands it; call and result are dropped together',
        things: 2,
        ...after(
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
          { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
        ),
      },
    ]),
    ...inArea('The response format', [
      {
        name: '`output_config.format`',
        body: { output_config: { format: { type: 'json_schema', schema: citySchema } } },
      },
    ]),
    ...inArea('Reasoning', [
      {
        name: '`thinking: enabled` with a budget',
        why: 'becomes the nearest effort',
        body: { thinking: { type: 'enabled', budget_tokens: 2000 } },
      },
      {
        name: '`thinking: adaptive`',
        why: 'chat reasons by default',
        body: { thinking: { type: 'adaptive' } },
        harmless: true,
      },
      {
        name: '`thinking: between_tools`',
        why: 'elsewhere a model thinks before its answer or not at all',
        body: { thinking: { type: 'between_tools' } },
      },
      {
        name: '`thinking: disabled`',
        why: 'this model always reasons; it gets its lowest level',
        body: { thinking: { type: 'disabled' } },
      },
      {
        name: '`output_config.effort`',
        body: { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
        without: { thinking: { type: 'adaptive' } },
      },
      {
        name: '`thinking.display: omitted`',
        why: 'chat decides by itself',
        harmless: true,
        body: {
          thinking: { type: 'adaptive', display: 'omitted' },
          output_config: { effort: 'high' },
        },
        without: { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
      },
      {
        name: '`thinking` in the history, unsigned',
        why: 'responses accepts only reasoning that it signed; chat upstreams that need it get it',
        harmless: true,
        ...after({ type: 'thinking', thinking: 'Hm.', signature: '' }),
      },
      {
        name: '`thinking` with the `signature` of another vendor',
        why: 'only its maker can read it; its text is carried if the upstream accepts text alone',
        things: 2,
        ...after({ type: 'thinking', thinking: 'Hm.', signature: 'b3RoZXI=' }),
      },
      {
        name: '`redacted_thinking`',
        why: 'only its maker can read it',
        ...after({ type: 'redacted_thinking', data: 'b3RoZXI=' }),
      },
    ]),
    ...inArea('Limits and sampling', [
      { name: '`max_tokens`', body: { max_tokens: 100 } },
      {
        name: '`temperature`',
        why: 'messages upstreams do not take it, so no client relies on it',
        body: { temperature: 0.5 },
      },
      { name: '`top_p`', body: { top_p: 0.5 } },
      { name: '`top_k`', why: 'neither has it', body: { top_k: 5 } },
      {
        name: '`stop_sequences`',
        why: 'responses has no stop sequences',
        body: { stop_sequences: ['x'] },
      },
      {
        name: 'more than four `stop_sequences`',
        why: 'chat takes four; responses has no stop sequences',
        body: { stop_sequences: ['a', 'b', 'c', 'd', 'e'] },
      },
    ]),
    ...inArea('State, vendors and accounts', [
      {
        name: '`cache_control` on a block',
        why: 'generateContent and OpenAI before GPT-5.6 manage their caches by themselves',
        body: said(user([{ ...text, ...marker }])),
        without: said(user([text])),
      },
      {
        name: '`cache_control.ttl`',
        why: 'as above; the upstream decides how long a cache lives',
        body: said(user([{ ...text, ...hour }])),
        without: said(user([text])),
      },
      {
        name: '`cache_control` on a result',
        why: 'results have no cache markers there',
        body: called([call('toolu_1')], [result('toolu_1', 'sunny', marker)]),
        without: looped,
      },
      {
        name: '`cache_control` of the request',
        why: 'the upstream manages its caches by itself',
        body: marker,
        harmless: true,
      },
      {
        name: '`metadata.user_id`',
        why: 'generateContent has no end users',
        body: { metadata: { user_id: 'u1' } },
      },
      { name: '`service_tier`', why: 'tiers belong to one vendor', body: { service_tier: 'auto' } },
      { name: '`speed`', why: 'tiers belong to one vendor', body: { speed: 'fast' } },
      { name: '`container`', why: 'needs state at the vendor', body: { container: 'c_1' } },
      {
        name: '`mcp_servers`',
        why: 'only the vendor can call the server',
        body: { mcp_servers: [{ type: 'url', name: 'a', url: 'https://mcp.example' }] },
      },
      {
        name: '`context_management`',
        why: 'only messages has it',
        body: { context_management: { edits: [] } },
      },
      {
        name: '`inference_geo`',
        why: 'a guarantee about the place of processing',
        body: { inference_geo: 'eu' },
      },
      {
        name: 'a `compaction` block',
        why: 'its text is carried',
        ...after({ type: 'compaction', content: 'So far: x.' }),
      },
      {
        name: '`fallbacks`',
        why: 'only messages has them',
        body: { fallbacks: [{ model: 'claude-sonnet-5' }] },
      },
      {
        name: 'an unknown member',
        why: 'unknown to every other protocol',
        body: { x_unknown: 1 },
      },
    ]),
  ],
};
