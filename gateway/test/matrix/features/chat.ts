import {
  citySchema,
  inArea,
  pdf,
  picture,
  plainText,
  png,
  sound,
  type ClientFeatures,
} from './feature.ts';

const user = (content: unknown, more: object = {}) => ({ role: 'user', content, ...more });
const said = (...messages: object[]) => ({ messages });
const text = { type: 'text', text: 'look' };
const withPart = (part: object) => ({
  body: said(user([text, part])),
  without: said(user([text])),
});

const paper = { file_data: `data:application/pdf;base64,${pdf}` };

const fn = (name: string, more: object = {}, entry: object = {}) => ({
  type: 'function',
  function: { name, parameters: citySchema, ...more },
  ...entry,
});
const tools = [fn('get_weather'), fn('get_time')];
const withTools = (more: object) => ({ body: { tools, ...more }, without: { tools } });
const call = (id: string, name = 'get_weather', args = '{"city":"Ulm"}') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const called = (calls: object[], results: object[], more: object = {}) => ({
  tools,
  messages: [
    user('hello'),
    { role: 'assistant', content: null, tool_calls: calls, ...more },
    ...results,
  ],
});
const result = (id: string, content: unknown) => ({ role: 'tool', tool_call_id: id, content });
const looped = called([call('call_1')], [result('call_1', 'sunny')]);
const answered = (more: object) => ({
  body: said(user('hello'), { role: 'assistant', content: 'hi', ...more }, user('and now?')),
  without: said(user('hello'), { role: 'assistant', content: 'hi' }, user('and now?')),
});
const patch = { name: 'apply_patch', description: 'Patches.' };
const schema = { type: 'json_schema', json_schema: { name: 'city', schema: citySchema } };

export const chat: ClientFeatures = {
  client: 'chat',
  plain: said(user('hello')),
  features: [
    ...inArea('The conversation', [
      {
        name: '`system` or `developer` message first',
        body: said({ role: 'system', content: 'Be brief.' }, user('hello')),
      },
      {
        name: 'several system messages first',
        body: said(
          { role: 'system', content: 'Be brief.' },
          { role: 'developer', content: 'Be kind.' },
          user('hello'),
        ),
      },
      {
        name: '`system` message later',
        why: "generateContent, and Claude before 4.8, have system text only before the conversation: it is said in the user's turn",
        body: said(user('hello'), { role: 'system', content: 'Be brief.' }, user('and?')),
        without: said(user('hello'), user('and?')),
      },
      {
        name: 'several turns',
        body: said(user('hello'), { role: 'assistant', content: 'hi' }, user('and now?')),
      },
      { name: 'several text parts', ...withPart({ type: 'text', text: 'again' }) },
      {
        name: "a message's `name`",
        why: 'only chat names speakers',
        body: said(user('hello', { name: 'Ada' })),
      },
      {
        name: '`refusal` in the history',
        ...answered({ content: null, refusal: 'No.' }),
      },
      {
        name: 'a prefilled response',
        why: 'newer Claude models do not continue a prefill: it becomes text before the question',
        body: said(user('hello'), { role: 'assistant', content: 'I say' }),
      },
    ]),
    ...inArea('Media', [
      {
        name: 'image, data URL',
        ...withPart({ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }),
      },
      { name: 'image, address', ...withPart({ type: 'image_url', image_url: { url: picture } }) },
      {
        name: "an image's `detail`",
        why: 'messages has none; generateContent has one resolution for all images',
        body: said(user([{ type: 'image_url', image_url: { url: picture, detail: 'high' } }])),
        without: said(user([{ type: 'image_url', image_url: { url: picture } }])),
      },
      {
        name: 'file, PDF as data',
        ...withPart({
          type: 'file',
          file: { file_data: `data:application/pdf;base64,${pdf}` },
        }),
      },
      {
        name: 'file, plain text as data',
        ...withPart({
          type: 'file',
          file: { file_data: `data:text/plain;base64,${plainText}` },
        }),
      },
      {
        name: "a file's name",
        why: 'generateContent has none',
        body: said(user([{ type: 'file', file: { ...paper, filename: 'a.pdf' } }])),
        without: said(user([{ type: 'file', file: paper }])),
      },
      {
        name: '`file_id`',
        why: 'a file kept by another vendor cannot be read: send its bytes',
        ...withPart({ type: 'file', file: { file_id: 'file-1' } }),
      },
      {
        name: '`input_audio`',
        why: 'only chat and generateContent take audio',
        ...withPart({ type: 'input_audio', input_audio: { data: sound, format: 'wav' } }),
      },
      {
        name: '`video_url`',
        why: 'only generateContent takes video',
        ...withPart({ type: 'video_url', video_url: { url: 'https://videos.example/a.mp4' } }),
      },
    ]),
    ...inArea('Tools', [
      { name: 'function tools', body: { tools } },
      {
        name: 'function without `parameters`',
        body: { tools: [{ type: 'function', function: { name: 'now' } }] },
      },
      {
        name: 'the old `functions`',
        body: { functions: [{ name: 'now', parameters: citySchema }] },
        why: 'one call at a time, which generateContent cannot be asked for',
      },
      {
        name: "a function's `strict`",
        why: 'generateContent has no such switch per function',
        body: { tools: [fn('now', { strict: true })] },
        without: { tools: [fn('now')] },
      },
      {
        name: "a function's `cache_control`",
        why: 'the upstream manages its caches by itself',
        body: { tools: [fn('now', {}, { cache_control: { type: 'ephemeral' } })] },
        without: { tools: [fn('now')] },
      },
      { name: 'names with dots or of 80 characters', body: { tools: [fn(`a.${'b'.repeat(78)}`)] } },
      {
        name: '`custom` tools',
        why: 'become functions with one string; their calls are converted back',
        body: { tools: [{ type: 'custom', custom: patch }] },
      },
      {
        name: '`custom` tools with a grammar',
        why: 'as above; the grammar is described in words',
        body: {
          tools: [
            {
              type: 'custom',
              custom: {
                ...patch,
                format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "x"' } },
              },
            },
          ],
        },
      },
      { name: '`tool_choice: auto`', ...withTools({ tool_choice: 'auto' }) },
      { name: '`tool_choice: none`', ...withTools({ tool_choice: 'none' }) },
      { name: '`tool_choice: required`', ...withTools({ tool_choice: 'required' }) },
      {
        name: '`tool_choice`, one function',
        ...withTools({ tool_choice: { type: 'function', function: { name: 'get_time' } } }),
      },
      {
        name: '`tool_choice: allowed_tools`',
        why: 'messages has no such choice, so only the allowed tools are sent',
        ...withTools({
          tool_choice: {
            type: 'allowed_tools',
            allowed_tools: {
              mode: 'auto',
              tools: [{ type: 'function', function: { name: 'get_time' } }],
            },
          },
        }),
      },
      {
        name: '`parallel_tool_calls: false`',
        why: 'generateContent has no such option',
        ...withTools({ parallel_tool_calls: false }),
      },
      { name: 'a call and its result', body: looped, without: { tools } },
      {
        name: 'parallel calls and their results',
        body: called(
          [call('call_1'), call('call_2', 'get_time')],
          [result('call_1', 'sunny'), result('call_2', 'noon')],
        ),
        without: looped,
      },
      {
        name: 'results in another order than the calls',
        body: called(
          [call('call_1'), call('call_2', 'get_time')],
          [result('call_2', 'noon'), result('call_1', 'sunny')],
        ),
        without: looped,
      },
      {
        name: 'a result without its call',
        why: 'every upstream refuses it',
        body: said(user('hello'), result('call_9', 'sunny')),
      },
      {
        name: 'arguments that are not JSON',
        why: 'these upstreams need an object, so the text is put into one',
        body: called([call('call_1', 'get_weather', '{"city":')], [result('call_1', 'sunny')]),
        without: looped,
      },
      {
        name: 'image in a result',
        body: called(
          [call('call_1')],
          [
            result('call_1', [
              text,
              { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
            ]),
          ],
        ),
        without: called([call('call_1')], [result('call_1', [text])]),
      },
      {
        name: '`web_search_options`',
        why: 'carried to models with `hosted_tools` in the catalogue',
        body: { web_search_options: {} },
      },
    ]),
    ...inArea('The response format', [
      { name: '`response_format: json_schema`', body: { response_format: schema } },
      {
        name: "a schema's `strict`",
        why: 'messages and generateContent always enforce the schema',
        harmless: true,
        body: {
          response_format: { ...schema, json_schema: { ...schema.json_schema, strict: true } },
        },
        without: { response_format: schema },
      },
      {
        name: "a schema's `description`",
        body: {
          response_format: { ...schema, json_schema: { ...schema.json_schema, description: 'd' } },
        },
        without: { response_format: schema },
      },
      {
        name: 'a schema with uncommon keywords',
        why: 'keywords that the upstream would refuse are described in words',
        body: {
          response_format: {
            type: 'json_schema',
            json_schema: {
              name: 'number',
              schema: {
                type: 'object',
                properties: { n: { type: 'integer', exclusiveMinimum: 0, multipleOf: 3 } },
              },
            },
          },
        },
      },
      {
        name: '`response_format: json_object`',
        why: 'messages has no such mode, so the instructions ask for it',
        body: { response_format: { type: 'json_object' } },
      },
      { name: '`verbosity`', why: 'neither has it', body: { verbosity: 'low' } },
      { name: '`n: 2`', why: 'one choice per request there', body: { n: 2 } },
      {
        name: '`logprobs`',
        why: 'messages has none; generateContent reports them without bytes',
        body: { logprobs: true },
      },
      { name: '`top_logprobs`', why: 'as above', body: { logprobs: true, top_logprobs: 2 } },
      {
        name: 'audio output',
        why: 'the response depends on it',
        body: { modalities: ['text', 'audio'], audio: { voice: 'a', format: 'wav' } },
      },
      {
        name: '`prediction`',
        why: 'only chat has it',
        body: { prediction: { type: 'content', content: 'x' } },
      },
      {
        name: '`stream_options.include_usage`',
        why: 'the gateway always asks for usage',
        body: { stream: true, stream_options: { include_usage: true } },
        without: { stream: true },
        harmless: true,
      },
    ]),
    ...inArea('Reasoning', [
      { name: '`reasoning_effort`', body: { reasoning_effort: 'high' } },
      {
        name: '`reasoning_effort: minimal`',
        why: 'the nearest level that the model has',
        body: { reasoning_effort: 'minimal' },
      },
      {
        name: '`reasoning_effort: xhigh`',
        why: 'the nearest level that the model has',
        body: { reasoning_effort: 'xhigh' },
      },
      {
        name: '`reasoning_effort: none`',
        why: 'this model always reasons; it gets its lowest level',
        body: { reasoning_effort: 'none' },
      },
      {
        name: 'a budget (`thinking.budget_tokens`)',
        why: 'becomes the nearest effort if the model takes no budgets',
        body: { thinking: { type: 'enabled', budget_tokens: 2000 } },
      },
      {
        name: '`reasoning_content` in the history',
        why: 'responses and messages accept only reasoning that they signed',
        ...answered({ reasoning_content: 'Hm.' }),
      },
    ]),
    ...inArea('Limits and sampling', [
      { name: '`max_completion_tokens`, `max_tokens`', body: { max_completion_tokens: 100 } },
      { name: '`temperature`', why: 'Claude models do not take it', body: { temperature: 0.5 } },
      { name: '`top_p`', body: { top_p: 0.5 } },
      {
        name: '`top_k`',
        why: 'responses has none; newer Claude models do not take it',
        body: { top_k: 5 },
      },
      { name: '`presence_penalty`', why: 'neither has it', body: { presence_penalty: 0.5 } },
      { name: '`frequency_penalty`', why: 'neither has it', body: { frequency_penalty: 0.5 } },
      { name: '`seed`', why: 'neither has it', body: { seed: 7 } },
      { name: '`stop`', why: 'responses has no stop sequences', body: { stop: ['x'] } },
      {
        name: '`stop: ["\\n"]`',
        why: 'responses has no stop sequences; messages refuses white space',
        body: { stop: ['\n'] },
      },
      {
        name: '`logit_bias`',
        why: 'token ids belong to one model',
        body: { logit_bias: { 1: 1 } },
      },
    ]),
    ...inArea('State, vendors and accounts', [
      {
        name: '`cache_control` on a part',
        why: 'generateContent and OpenAI before GPT-5.6 manage their caches by themselves',
        body: said(user([{ ...text, cache_control: { type: 'ephemeral' } }])),
        without: said(user([text])),
      },
      { name: '`prompt_cache_key`', why: 'neither has it', body: { prompt_cache_key: 'k' } },
      {
        name: '`prompt_cache_retention`, `prompt_cache_options`',
        why: "only OpenAI's own upstreams take them, in chat and in responses",
        body: { prompt_cache_retention: '24h' },
      },
      {
        name: '`safety_identifier`, `user`',
        why: 'generateContent has no end users',
        body: { user: 'u1' },
      },
      {
        name: '`metadata`',
        why: 'only for the vendor’s own console',
        body: { metadata: { a: 'b' } },
        harmless: true,
      },
      { name: '`service_tier`', why: 'tiers belong to one vendor', body: { service_tier: 'flex' } },
      {
        name: '`store: true`',
        why: 'only OpenAI stores it, and `metadata` with it',
        body: { store: true },
      },
      {
        name: '`store: false`',
        why: 'nothing is stored anyway',
        body: { store: false },
        harmless: true,
      },
      {
        name: 'an unknown member',
        why: 'unknown to every other protocol',
        body: { x_unknown: 1 },
      },
    ]),
  ],
};
