import { describe, expect, it } from 'vitest';
import {
  whole,
  talk,
  hello,
  user,
  model,
  text,
  call,
  result,
  added,
  tool,
  tools,
  long,
  marked,
  image,
  newer,
  other,
  patch,
  type Options,
} from '#test/support/messages-repairs/requests.ts';

const answered = talk(user(text('hi')), model(text('x'), call('a')), user(result('a'), text('y')));

type Untouched = readonly [what: string, body: string, options?: Options];

const untouched: readonly Untouched[] = [
  ['a turn of a tool', `${tools},${answered}`],
  ['top_p of an older model', `"top_p":0.5,${hello}`],
  ['top_p that says next to nothing', `"top_p":0.99,${hello}`, newer],
  ['top_k without thinking', `"top_k":5,${hello}`],
  ['a budget of the whole output', `"thinking":{"type":"enabled","budget_tokens":4095},${hello}`],
  [
    'a budget for thoughts between tools',
    `"thinking":{"type":"enabled","budget_tokens":9000},${hello}`,
    { betas: 'a-1,interleaved-thinking-2025-05-14' },
  ],
  [
    'a budget when only tokens are counted',
    `"thinking":{"type":"enabled","budget_tokens":9000},${hello}`,
    { count: true },
  ],
  [
    'thinking in the way of somebody else',
    `"thinking":{"type":"adaptive"},"output_config":{"effort":"max"},${hello}`,
    other,
  ],
  ['an effort nobody knows yet', `"output_config":{"effort":"huge"},${hello}`, newer],
  [
    'a kind of thinking nobody knows yet',
    `"thinking":{"type":"dreaming","budget_tokens":1},${hello}`,
    newer,
  ],
  ['an instruction in its place', talk(user(text('hi')), '{"role":"system","content":"b"}'), newer],
  [
    'instructions for somebody else',
    talk('{"role":"system","content":"b"}', user(text('y'))),
    other,
  ],
  ['a role nobody knows yet', talk('{"role":"critic","content":""}', model(call('a'))), newer],
  [
    'blocks nobody knows yet',
    talk(
      user('{"type":"new","text":"","cache_control":7}', text('hi')),
      model('{"type":"newer"}', text('x'), call('a')),
      user('{"type":"newest"}', result('a')),
    ),
  ],
  ['two of the user in a row', talk(user(text('a')), '{"role":"user","content":"b"}')],
  ['a begun response', talk(user(text('hi')), model(text('So')))],
  ['an empty begun response', talk(user(text('hi')), model())],
  [
    'a response that a provider’s tool broke off',
    talk(user(text('hi')), model(text('x'), '{"type":"server_tool_use","id":"s"}')),
    newer,
  ],
  [
    'four markers',
    `"tools":[${tool(`,${long}`)}],"system":[${marked('s', long)}],${talk(user(marked('a'), marked('b')))}`,
  ],
  [
    'thoughts without signature of somebody else',
    talk(user(text('hi')), model('{"type":"thinking","thinking":"t"}', text('x')), user(text('y'))),
    other,
  ],
  ['metadata of somebody else', `"metadata":{"user_id":"u"},${hello}`, other],
  [
    'fields of a beta that is named',
    `"context_management":{"edits":[]},"output_config":{"task_budget":{}},${hello}`,
    { betas: 'context-management-2025-06-27' },
  ],
  [
    'fields of a beta that the body names',
    `"anthropic_beta":["context-management-2025-06-27"],"context_management":{},${hello}`,
  ],
  ['a choice of none without tools', `"tool_choice":{"type":"none"},${hello}`],
  ['tools of a kind nobody knows yet', `"tools":[{"type":"new_20270101","name":"n"}],${hello}`],
  [
    'a step that begins with a block nobody knows yet',
    `"thinking":{"type":"enabled","budget_tokens":2000},${talk(user(text('hi')), model('{"type":"newer"}', call('a')), user(result('a')))}`,
  ],
  [
    'a name of 128 characters, for the vendor itself',
    `"tools":[{"name":"${'x'.repeat(128)}","input_schema":{"type":"object"}}],${hello}`,
  ],
  [
    'a choice of a tool that comes later',
    `${tools},"tool_choice":{"type":"tool","name":"g"},${talk(user(text('hi')), `{"role":"system","content":[${added('g')}]}`)}`,
    newer,
  ],
  [
    'a choice when all tools come later',
    `"tool_choice":{"type":"any"},${talk(user(text('hi')), `{"role":"system","content":[${added('g')}]}`)}`,
    newer,
  ],
  [
    'a choice of a tool of a server',
    `${tools},"mcp_servers":[{"type":"url","name":"s","url":"u"}],"tool_choice":{"type":"tool","name":"s_g"},${hello}`,
    { betas: 'mcp-client-2025-11-20' },
  ],
  [
    'tools that come later, and go',
    `${tools},${talk(user(text('hi')), `{"role":"system","content":[${added('g')}]}`, user(text('y')))}`,
    newer,
  ],
  [
    'names that are not the client’s own',
    `"tools":[{"type":"new_20270101","name":"a.b"},{"type":"mcp_toolset","mcp_server_name":"m.n","configs":{"a.b":{}}}],${talk(
      user(text('hi')),
      model(
        '{"type":"mcp_tool_use","id":"m","name":"a.b","server_name":"m.n","input":{}}',
        text('x'),
      ),
      user(text('y')),
    )}`,
  ],
  ['messages that are a text', '"messages":"later"'],
  ['an image of an unknown kind', talk(user(image('image/avif', 'AAAA')))],
  ['a whole pair', talk(user(text('\\ud83d\\ude00')))],
  [
    'documents of the model under the older version',
    talk(user(text('hi')), model('{"type":"document"}', text('x')), user(text('y'))),
  ],
];

describe('a request to which no rule applies', () => {
  it.each(untouched.map(([what, body, options = {}]) => ({ what, body, options })))(
    '$what',
    ({ body, options }) => {
      const name = options.model ?? 'claude-sonnet-4-5';
      expect(patch(whole(body, name), { model: name, ...options })).toMatchObject({
        ids: [],
        same: true,
      });
    },
  );

  it('an unknown value stays unchanged beside a repair', () => {
    const unknown = '{"type":"new","big":12345678901234567890,"a":[1.0 , 2E0]}';
    const before = talk(user(unknown, text('')), model(text('x')), user(text('y')));
    expect(patch(whole(before), {}).text).toBe(
      whole(talk(user(unknown), model(text('x')), user(text('y')))),
    );
  });
});
