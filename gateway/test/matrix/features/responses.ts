import {
  citySchema,
  inArea,
  paper,
  pdf,
  picture,
  plainText,
  png,
  sound,
  type ClientFeatures,
} from './feature.ts';

const user = (content: unknown) => ({ role: 'user', content });
const input = (...items: object[]) => ({ input: items });
const text = { type: 'input_text', text: 'look' };
const withPart = (part: object) => ({
  body: input(user([text, part])),
  without: input(user([text])),
});
const pdfFile = { type: 'input_file', file_data: `data:application/pdf;base64,${pdf}` };
const fn = (name: string, more: object = {}) => ({
  type: 'function',
  name,
  parameters: citySchema,
  ...more,
});
const tools = [fn('get_weather'), fn('get_time')];
const withTools = (more: object) => ({ body: { tools, ...more }, without: { tools } });
const call = (id: string, name = 'get_weather') => ({
  type: 'function_call',
  call_id: id,
  name,
  arguments: '{"city":"Ulm"}',
});
const result = (id: string, output: unknown) => ({
  type: 'function_call_output',
  call_id: id,
  output,
});
const called = (...items: object[]) => ({ tools, ...input(user('hello'), ...items) });
const looped = called(call('call_1'), result('call_1', 'sunny'));
const response = {
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'hi' }],
};
const after = (...items: object[]) => ({
  body: input(user('hello'), ...items, response, user('and now?')),
  without: input(user('hello'), response, user('and now?')),
});
const custom = { type: 'custom', name: 'apply_patch', description: 'Patches.' };
const space = (...inner: object[]) => ({
  type: 'namespace',
  name: 'files',
  description: 'Files.',
  tools: inner,
});
const schema = { type: 'json_schema', name: 'city', schema: citySchema };

export const responses: ClientFeatures = {
  client: 'responses',
  plain: { input: 'hello' },
  features: [
    ...inArea('The conversation', [
      { name: '`instructions`', body: { instructions: 'Be brief.' } },
      {
        name: '`developer` or `system` item first',
        body: input({ role: 'developer', content: 'Be brief.' }, user('hello')),
      },
      {
        name: '`developer` item later',
        why: "generateContent, Claude before 4.8 and templates of open models have system text only before the conversation: it is said in the user's turn",
        body: input(user('hello'), { role: 'developer', content: 'Be brief.' }, user('and?')),
        without: input(user('hello'), user('and?')),
      },
      { name: 'several turns', body: input(user('hello'), response, user('and now?')) },
      { name: 'several text parts', ...withPart({ type: 'input_text', text: 'again' }) },
      {
        name: '`refusal` in the history',
        body: input(
          user('hello'),
          { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
          user('and now?'),
        ),
        without: input(user('hello'), user('and now?')),
      },
      {
        name: "a message's `phase`",
        why: 'only responses has it',
        body: input(user('hello'), { ...response, phase: 'commentary' }, user('and now?')),
        without: input(user('hello'), response, user('and now?')),
      },
    ]),
    ...inArea('Media', [
      {
        name: 'image, data URL',
        ...withPart({ type: 'input_image', image_url: `data:image/png;base64,${png}` }),
      },
      { name: 'image, address', ...withPart({ type: 'input_image', image_url: picture }) },
      {
        name: "an image's `detail`",
        why: 'messages has none; generateContent has one resolution for all images',
        body: input(user([{ type: 'input_image', image_url: picture, detail: 'high' }])),
        without: input(user([{ type: 'input_image', image_url: picture }])),
      },
      {
        name: 'file, PDF as data',
        ...withPart({
          type: 'input_file',
          file_data: `data:application/pdf;base64,${pdf}`,
        }),
      },
      {
        name: 'file, plain text as data',
        why: 'chat takes only PDF, so the text goes into the message',
        ...withPart({
          type: 'input_file',
          file_data: `data:text/plain;base64,${plainText}`,
        }),
      },
      {
        name: 'file, address',
        ...withPart({ type: 'input_file', file_url: paper }),
      },
      {
        name: "a file's name",
        why: 'generateContent has none',
        body: input(user([{ ...pdfFile, filename: 'a.pdf' }])),
        without: input(user([pdfFile])),
      },
      {
        name: '`file_id`',
        why: 'a file kept by another vendor cannot be read: send its bytes',
        ...withPart({ type: 'input_file', file_id: 'file-1' }),
      },
      {
        name: '`input_audio`',
        why: 'only chat and generateContent take audio, and responses has no field for it',
        ...withPart({ type: 'input_audio', input_audio: { data: sound, format: 'wav' } }),
      },
    ]),
    ...inArea('Tools', [
      { name: 'function tools', body: { tools } },
      {
        name: 'function without `parameters`',
        body: { tools: [{ type: 'function', name: 'now' }] },
      },
      {
        name: "a function's `strict`",
        why: 'generateContent has no such switch per function',
        body: { tools: [fn('now', { strict: true })] },
        without: { tools: [fn('now')] },
      },
      { name: 'names with dots or of 80 characters', body: { tools: [fn(`a.${'b'.repeat(78)}`)] } },
      {
        name: '`custom` tools',
        why: 'become functions with one string; their calls are converted back',
        body: { tools: [custom] },
      },
      {
        name: '`custom` tools with a grammar',
        why: 'as above; the grammar is described in words',
        body: {
          tools: [
            {
              ...custom,
              format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
            },
          ],
        },
      },
      {
        name: 'a custom call and its result',
        body: {
          tools: [custom],
          ...input(
            user('hello'),
            { type: 'custom_tool_call', call_id: 'call_1', name: 'apply_patch', input: 'free' },
            { type: 'custom_tool_call_output', call_id: 'call_1', output: 'done' },
          ),
        },
        without: { tools: [custom] },
      },
      {
        name: '`namespace` tools',
        why: 'the name gets a prefix, which is removed again; the namespace’s description is lost',
        body: { tools: [space(fn('read'))] },
        things: 2,
      },
      { name: '`tool_choice: auto`', ...withTools({ tool_choice: 'auto' }) },
      { name: '`tool_choice: none`', ...withTools({ tool_choice: 'none' }) },
      { name: '`tool_choice: required`', ...withTools({ tool_choice: 'required' }) },
      {
        name: '`tool_choice`, one function',
        ...withTools({ tool_choice: { type: 'function', name: 'get_time' } }),
      },
      {
        name: '`tool_choice: allowed_tools`',
        why: 'only the allowed tools are sent',
        ...withTools({
          tool_choice: {
            type: 'allowed_tools',
            mode: 'auto',
            tools: [{ type: 'function', name: 'get_time' }],
          },
        }),
      },
      {
        name: '`parallel_tool_calls: false`',
        why: 'generateContent has no such option',
        ...withTools({ parallel_tool_calls: false }),
      },
      {
        name: 'tools that the client runs (`shell`, `apply_patch`, `computer`, `tool_search`)',
        why: 'become functions, whose calls come back as items of the type',
        body: {
          tools: [{ type: 'shell' }],
          ...input(
            user('hello'),
            { type: 'shell_call', call_id: 'call_1', action: { commands: ['ls'] } },
            {
              type: 'shell_call_output',
              call_id: 'call_1',
              output: [{ stdout: 'a', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
            },
          ),
        },
      },
      {
        name: '`max_tool_calls`',
        why: 'counts only tools that the vendor runs',
        ...withTools({ max_tool_calls: 2 }),
      },
      { name: 'a call and its result', body: looped, without: { tools } },
      {
        name: 'parallel calls and their results',
        body: called(
          call('call_1'),
          call('call_2', 'get_time'),
          result('call_1', 'sunny'),
          result('call_2', 'noon'),
        ),
        without: looped,
      },
      {
        name: 'a result without its call',
        why: 'every upstream refuses it',
        body: input(user('hello'), result('call_9', 'x')),
      },
      {
        name: 'image in a result',
        why: 'follows in a user message, since results in chat are text',
        body: called(
          call('call_1'),
          result('call_1', [
            text,
            { type: 'input_image', image_url: `data:image/png;base64,${png}` },
          ]),
        ),
        without: called(call('call_1'), result('call_1', [text])),
      },
      {
        name: 'hosted `web_search`',
        why: 'carried to models with `hosted_tools` in the catalogue',
        body: { tools: [{ type: 'web_search' }] },
      },
      {
        name: 'hosted `code_interpreter`',
        why: 'carried to models with `hosted_tools` in the catalogue',
        body: { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
      },
      {
        name: 'hosted `file_search`',
        why: 'searches a store at the vendor',
        body: { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
      },
      {
        name: 'hosted `image_generation`',
        why: 'only the vendor draws inside a response; see [images](images.md#in-responses)',
        body: { tools: [{ type: 'image_generation' }] },
      },
      {
        name: 'hosted `mcp`',
        why: 'only the vendor can call the server',
        body: { tools: [{ type: 'mcp', server_label: 'a', server_url: 'https://mcp.example' }] },
      },
      {
        name: 'a hosted tool that is forced',
        why: 'the upstream cannot make the call',
        body: { tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } },
      },
      {
        name: 'a hosted tool’s trace in the history',
        why: 'only its vendor understands it',
        ...after({ type: 'web_search_call', id: 'ws_1', status: 'completed' }),
      },
    ]),
    ...inArea('The response format', [
      { name: '`text.format: json_schema`', body: { text: { format: schema } } },
      {
        name: "a schema's `strict`",
        why: 'messages and generateContent always enforce the schema',
        harmless: true,
        body: { text: { format: { ...schema, strict: true } } },
        without: { text: { format: schema } },
      },
      {
        name: '`text.format: json_object`',
        why: 'messages has no such mode, so the instructions ask for it',
        body: { text: { format: { type: 'json_object' } } },
      },
      { name: '`text.verbosity`', why: 'neither has it', body: { text: { verbosity: 'low' } } },
      {
        name: 'log probabilities',
        why: 'messages has none; generateContent reports them without bytes',
        body: { include: ['message.output_text.logprobs'] },
      },
      {
        name: '`top_logprobs`',
        why: 'as above',
        body: { include: ['message.output_text.logprobs'], top_logprobs: 2 },
      },
    ]),
    ...inArea('Reasoning', [
      { name: '`reasoning.effort`', body: { reasoning: { effort: 'high' } } },
      {
        name: '`reasoning.effort: minimal`',
        why: 'the nearest level that the upstream has',
        body: { reasoning: { effort: 'minimal' } },
      },
      {
        name: '`reasoning.effort: none`',
        why: 'this model always reasons; it gets its lowest level',
        body: { reasoning: { effort: 'none' } },
      },
      {
        name: '`reasoning.summary`',
        why: 'chat decides by itself; generateContent is always asked for its reasoning',
        harmless: true,
        body: { reasoning: { effort: 'high', summary: 'auto' } },
        without: { reasoning: { effort: 'high' } },
      },
      {
        name: '`include: reasoning.encrypted_content`',
        why: 'the response always includes the reasoning state',
        body: { include: ['reasoning.encrypted_content'] },
        harmless: true,
      },
      {
        name: 'a summary in the history',
        why: 'messages accepts only reasoning that it signed; chat upstreams that need it get it',
        harmless: true,
        ...after({
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 'Hm.' }],
        }),
      },
      {
        name: '`encrypted_content` of another vendor',
        why: 'only its maker can read it',
        ...after({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'b3RoZXI=' }),
      },
    ]),
    ...inArea('Limits and sampling', [
      { name: '`max_output_tokens`', body: { max_output_tokens: 100 } },
      { name: '`temperature`', why: 'Claude models do not take it', body: { temperature: 0.5 } },
      { name: '`top_p`', body: { top_p: 0.5 } },
      {
        name: '`truncation: auto`',
        why: 'only responses truncates a conversation by itself',
        body: { truncation: 'auto' },
      },
    ]),
    ...inArea('State, vendors and accounts', [
      {
        name: '`previous_response_id`',
        why: 'needs state at the vendor',
        body: { previous_response_id: 'resp_1' },
      },
      {
        name: '`conversation`',
        why: 'needs state at the vendor',
        body: { conversation: 'conv_1' },
      },
      {
        name: '`item_reference` to an item that a vendor has',
        why: 'needs state at the vendor; items of converted responses [are remembered](#items-by-id)',
        body: input({ type: 'item_reference', id: 'msg_1' }),
      },
      {
        name: '`background: true`',
        why: 'needs state at the vendor',
        body: { background: true, stream: true },
        without: { stream: true },
      },
      {
        name: 'stored `prompt`',
        why: 'needs state at the vendor',
        body: { prompt: { id: 'pmpt_1' } },
      },
      {
        name: 'a `compaction` item',
        why: 'only its maker can read it, and it replaces the conversation before it',
        body: input({ type: 'compaction', encrypted_content: 'eA==' }, user('hello')),
      },
      {
        name: '`store: false`',
        why: 'the gateway does not remember the items of the response',
        body: { store: false },
        harmless: true,
      },
      {
        name: '`store: true`',
        why: 'only OpenAI stores it, and `metadata` with it',
        body: { store: true },
      },
      {
        name: '`context_management`',
        why: 'only responses has it',
        body: { context_management: [{ type: 'compaction' }] },
      },
      {
        name: '`prompt_cache_key`',
        why: "messages and generateContent have none; of chat upstreams only OpenAI's own takes it",
        body: { prompt_cache_key: 'k' },
      },
      {
        name: '`prompt_cache_retention`, `prompt_cache_options`',
        why: "only OpenAI's own upstreams take them, in chat and in responses",
        body: { prompt_cache_retention: '24h' },
      },
      {
        name: '`safety_identifier`, `user`',
        why: 'generateContent has no end users',
        body: { safety_identifier: 'u1' },
      },
      {
        name: '`metadata`',
        why: 'only for the vendor’s own console',
        body: { metadata: { a: 'b' } },
        harmless: true,
      },
      { name: '`service_tier`', why: 'tiers belong to one vendor', body: { service_tier: 'flex' } },
      {
        name: 'an unknown member',
        why: 'unknown to every other protocol',
        body: { x_unknown: 1 },
      },
    ]),
  ],
};
