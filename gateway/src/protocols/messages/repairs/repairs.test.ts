import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../errors/index.ts';
import { messages } from '../index.ts';
import { rules } from './table.ts';

interface Options {
  readonly model?: string;
  readonly version?: string;
  readonly betas?: string;
  readonly limit?: number;
  readonly count?: boolean;
}

function patch(
  text: string,
  { model = 'claude-sonnet-4-5', version, betas, limit, count }: Options,
) {
  const operation = count === true ? 'count-tokens' : 'generate';
  const path = { operation, model: null, stream: null } as const;
  const request = messages.readRequest(messages.openRequest(Buffer.from(text), path));
  const patched = messages.patchRequest(request, {
    upstreamModel: model,
    maxOutputTokens: limit ?? null,
    headers: { 'anthropic-version': version, 'anthropic-beta': betas },
  });
  return {
    text: patched.body.toString('utf8'),
    ids: patched.rewrites,
    same: patched.body === request.body,
  };
}

/** A body with members beside the usual ones; numbers that would not survive being parsed stand around. */
const whole = (more: string, model = 'claude-sonnet-4-5') =>
  `{"model":"${model}", "max_tokens": 4096,"x_big":12345678901234567890, ${more} ,"x_one":1.0}`;
const talk = (...turns: string[]) => `"messages": [ ${turns.join(' , ')} ]`;
const hello = talk('{"role":"user","content":"hi"}');
const user = (...blocks: string[]) => `{"role":"user", "content":[${blocks.join(', ')}]}`;
const model = (...blocks: string[]) => `{"role":"assistant", "content":[${blocks.join(', ')}]}`;
const text = (value: string) => `{"type":"text","text":"${value}"}`;
const call = (id: string, input = '{"n":1.0}') =>
  `{"type":"tool_use","id":"${id}","name":"f","input":${input}}`;
const result = (id: string, content = '"ok"') =>
  `{"type":"tool_result", "tool_use_id":"${id}","content":${content}}`;
/** A call of a tool that is not `f`, with the id `a`. */
const called = (name: string) => call('a').replace('"name":"f"', `"name":"${name}"`);
const found = (member: string, name: string) =>
  `{"type":"tool_search_tool_result","tool_use_id":"s","content":{"type":"tool_search_tool_search_result","tool_references":[{"type":"tool_reference","${member}":"${name}"}]}}`;
const added = (name: string) =>
  `{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"name":"${name}","input_schema":{"type":"object"}}}}`;
const compacted = (name: string) =>
  `{"type":"compaction","content":"c","tool_changes":[${added(name)},{"type":"tool_removal","tool":{"type":"tool_reference","name":"${name}"}}]}`;
const tool = (more = '') => `{"name":"f","input_schema":{"type":"object"}${more}}`;
const tools = `"tools":[${tool()}]`;
const marker = '"cache_control":{"type":"ephemeral"}';
const long = '"cache_control":{"type":"ephemeral","ttl":"1h"}';
const marked = (value: string, mark = marker) => `{"type":"text","text":"${value}",${mark}}`;
const image = (type: string, data: string) =>
  `{"type":"image","source":{"type":"base64","media_type":"${type}","data":"${data}"}}`;
const png = 'iVBORw0KGgo=';
const noResult = (id: string) =>
  `{"type":"tool_result","tool_use_id":"${id}","is_error":true,"content":"No result was recorded for this call."}`;

type Case = readonly [what: string, id: string, before: string, after: string, options?: Options];

const always = { model: 'claude-opus-5-5' };
const newer = { model: 'claude-opus-4-8' };
const other = { model: 'demo-chat' };
const latest = { version: '2026-10-21' };

const mended: readonly Case[] = [
  ['top_p of a newer model', 'b1', `"top_p":0.5,${hello}`, hello, newer],
  ['top_k and top_p, neighbours', 'b1', `"top_k":5,"top_p":0.9,${hello}`, hello, latest],
  [
    'top_k of one that thinks',
    'b1',
    `"thinking":{"type":"adaptive"},"top_k":5,${hello}`,
    `"thinking":{"type":"adaptive"},${hello}`,
    { model: 'claude-opus-4-6' },
  ],
  [
    'a name of a tool that nobody takes, wherever it stands',
    'b29',
    `"tools":[${tool()}, {"name":"a.b","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool", "name":"a.b"},
     "context_management":{"edits":[{"type":"clear_tool_uses_20250919","exclude_tools":["f", "a.b", null],"clear_tool_inputs":["a.b"]}]},
     ${talk(
       user(text('hi, a.b')),
       model(called('a.b'), call('b'), found('tool_name', 'a.b')),
       user(result('a', '[{"type":"tool_reference","tool_name":"a.b"}]'), result('b')),
     )}`,
    `"tools":[${tool()}, {"name":"a_b_68a436","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool", "name":"a_b_68a436"},
     "context_management":{"edits":[{"type":"clear_tool_uses_20250919","exclude_tools":["f", "a_b_68a436", null],"clear_tool_inputs":["a_b_68a436"]}]},
     ${talk(
       user(text('hi, a.b')),
       model(called('a_b_68a436'), call('b'), found('tool_name', 'a_b_68a436')),
       user(result('a', '[{"type":"tool_reference","tool_name":"a_b_68a436"}]'), result('b')),
     )}`,
  ],
  [
    'a name of 65 characters, for other hosts',
    'b29',
    `"tools":[{"name":"${'x'.repeat(65)}","input_schema":{"type":"object"}}],${hello}`,
    `"tools":[{"name":"${'x'.repeat(57)}_1c9c4c","input_schema":{"type":"object"}}],${hello}`,
    { model: 'eu.anthropic.claude-sonnet-4-5' },
  ],
  [
    'a name that a compaction defines',
    'b29',
    talk(user(text('hi')), model(text('x'), compacted('a.b')), user(text('y'))),
    talk(user(text('hi')), model(text('x'), compacted('a_b_68a436')), user(text('y'))),
  ],
  [
    'a name that was added later',
    'b29',
    talk(user(text('hi')), `{"role":"system","content":[${added('a.b')}]}`),
    talk(user(text('hi')), `{"role":"system","content":[${added('a_b_68a436')}]}`),
    newer,
  ],
  [
    'a budget that is too small',
    'b3',
    `"thinking": {"budget_tokens" : 10, "type":"enabled"},${hello}`,
    `"thinking": {"budget_tokens" : 1024, "type":"enabled"},${hello}`,
  ],
  [
    'a budget beyond the output',
    'b3',
    `"thinking":{"type":"enabled","budget_tokens":9000},${hello}`,
    `"thinking":{"type":"enabled","budget_tokens":4095},${hello}`,
  ],
  [
    'a budget for a newer model',
    'b4',
    `"thinking":{"type":"enabled","budget_tokens":2000,"display":"omitted"},"output_config":{},${hello}`,
    `"thinking":{"type":"adaptive","display":"omitted"},"output_config":{"effort":"medium"},${hello}`,
    newer,
  ],
  [
    'adaptive thinking of an older model',
    'b5',
    `"thinking":{"type":"adaptive"},${hello}`,
    `"thinking":{"budget_tokens":3072,"type":"enabled"},${hello}`,
  ],
  [
    'no thinking of one that always thinks',
    'b6',
    `"thinking":{"type":"disabled"},${hello}`,
    hello,
    always,
  ],
  [
    'no thinking of one that thinks between tools',
    'b6',
    `"thinking":{"type":"disabled"},${hello}`,
    `"thinking":{"type":"between_tools"},${hello}`,
    { model: 'claude-sonnet-5-5' },
  ],
  [
    'a forced tool and thinking',
    'b7',
    `"thinking":{"type":"enabled","budget_tokens":2000},${tools},"tool_choice":{"type":"any"},${hello}`,
    `"thinking":{"type":"disabled"},${tools},"tool_choice":{"type":"any"},${hello}`,
  ],
  [
    'a forced tool of one that always thinks',
    'b7',
    `${tools},"tool_choice":{"type":"tool","name":"f","disable_parallel_tool_use":true},${hello}`,
    `${tools},"tool_choice":{"type":"auto","disable_parallel_tool_use":true},${hello}`,
    always,
  ],
  [
    'an effort above the model',
    'b8',
    `"output_config":{"effort":"xhigh"},${hello}`,
    `"output_config":{"effort":"high"},${hello}`,
    { model: 'claude-opus-4-6' },
  ],
  ['an effort of a model without', 'b8', `"output_config":{"effort":"low"},${hello}`, hello],
  [
    'another protocol’s effort',
    'b8',
    `"output_config":{"effort":"minimal"},${hello}`,
    `"output_config":{"effort":"low"},${hello}`,
    other,
  ],
  [
    'a leading instruction',
    'b9',
    `"system":[${text('a')}],${talk('{"role":"system","content":"b"}', user(text('hi')))}`,
    `"system":[${text('a')},${text('b')}],${talk(user(text('hi')))}`,
  ],
  [
    'an instruction on an older model',
    'b9',
    talk(
      '{"role":"user","content":"hi"}',
      '{"role":"system","content":"b"}',
      model(text('x')),
      user(text('y')),
    ),
    talk(
      `{"role":"user","content":[${text('hi')},${text('b')}]}`,
      model(text('x')),
      user(text('y')),
    ),
  ],
  [
    'an instruction behind the model',
    'b9',
    talk(user(text('hi')), model(text('x')), '{"role":"system","content":"b"}', user(text('y'))),
    talk(user(text('hi')), model(text('x')), '{"role":"user","content":"b"}', user(text('y'))),
    newer,
  ],
  [
    'the model first',
    'b10',
    talk(model(text('x')), user(text('hi'))),
    `"messages": [ {"role":"user","content":"(conversation continues)"},${model(text('x'))} , ${user(text('hi'))} ]`,
  ],
  [
    'two in a row, elsewhere',
    'b11',
    talk('{"role":"user","content":"a"}', user(text('b'))),
    talk(`{"role":"user","content":[${text('a')},${text('b')}]}`),
    other,
  ],
  [
    'a turn without content',
    'b12',
    talk(user(text('hi')), '{"role":"assistant","content":""}', user(text('y'))),
    talk(user(text('hi')), user(text('y'))),
  ],
  ['the only turn without content', 'b12', talk(user()), talk(user(text('(no content)')))],
  [
    'a blank block',
    'b13',
    talk(user(text('hi'), text(' \\n'), text('y'))),
    talk(user(text('hi'), text('y'))),
  ],
  [
    'a blank block with a marker',
    'b13',
    talk(user(text('hi'), marked(''), text('y'))),
    talk(user(`{${marker},"type":"text","text":"hi"}`, text('y'))),
  ],
  [
    'a blank block in a result',
    'b13',
    talk(user(text('hi')), model(call('a')), user(result('a', `[${text('')}, ${text('ok')}]`))),
    talk(user(text('hi')), model(call('a')), user(result('a', `[${text('ok')}]`))),
  ],
  [
    'a blank block in the system prompt',
    'b13',
    `"system":[ ${text('')} , ${text('a')} ],${hello}`,
    `"system":[ ${text('a')} ],${hello}`,
  ],
  [
    'a marker on thoughts',
    'b14',
    talk(
      user(text('hi')),
      model(`{"type":"thinking","thinking":"t","signature":"s",${marker}}`, text('x')),
      user(text('y')),
    ),
    talk(
      user(text('hi')),
      model('{"type":"thinking","thinking":"t","signature":"s"}', text('x')),
      user(text('y')),
    ),
  ],
  [
    'a marker on a deferred tool',
    'b14',
    `"tools":[${tool()},{"name":"g","input_schema":{"type":"object"},"defer_loading":true,${marker}}],${hello}`,
    `"tools":[${tool()},{"name":"g","input_schema":{"type":"object"},"defer_loading":true}],${hello}`,
  ],
  [
    'five markers',
    'b15',
    `"system":[${marked('s')}],${talk(user(...['a', 'b', 'c', 'd'].map((value) => marked(value))))}`,
    `"system":[${marked('s')}],${talk(user(text('a'), ...['b', 'c', 'd'].map((value) => marked(value))))}`,
  ],
  [
    'four markers and the request’s own',
    'b15',
    `${marker},${talk(user(...['a', 'b', 'c', 'd'].map((value) => marked(value))))}`,
    `${marker},${talk(user(text('a'), ...['b', 'c', 'd'].map((value) => marked(value))))}`,
  ],
  [
    'a long life after a short one',
    'b16',
    `"system":[${marked('s')}],${talk(user(marked('a', long)))}`,
    `"system":[${marked('s')}],${talk(user(marked('a', long.replace('1h', '5m'))))}`,
  ],
  [
    'a call without result',
    'b17',
    talk(user(text('hi')), model(call('a'), call('b')), user(result('b'), text('y'))),
    talk(
      user(text('hi')),
      model(call('a'), call('b')),
      user(result('b'), noResult('a'), text('y')).replace(
        ', {"type":"tool_result","tool_use_id":"a"',
        ', {"type":"tool_result","tool_use_id":"a"',
      ),
    ),
  ],
  [
    'a result that comes later',
    'b17',
    talk(
      user(text('hi')),
      model(call('a')),
      user(text('wait')),
      model(text('ok')),
      user(result('a', '"12"'), text('y')),
    ),
    '',
  ],
  [
    'a last call',
    'b17',
    talk(user(text('hi')), model(text('x'), call('a'))),
    talk(user(text('hi')), model(text('x'))),
  ],
  [
    'text behind a call',
    'b17',
    talk(user(text('hi')), model(call('a'), text('x')), user(result('a'))),
    talk(user(text('hi')), model(text('x'), call('a')), user(result('a'))).replace(
      '}, {"type":"tool_use"',
      '},{"type":"tool_use"',
    ),
  ],
  [
    'a result without call',
    'b18',
    talk(user(text('hi')), model(text('x')), user(result('a', `[${text('42')}]`))),
    talk(user(text('hi')), model(text('x')), user(text('[Result of tool call a]\\n42'))),
  ],
  [
    'two results',
    'b19',
    talk(user(text('hi')), model(call('a')), user(result('a', '"one"'), result('a', '"two"'))),
    talk(user(text('hi')), model(call('a')), user(result('a', `[${text('one')},${text('two')}]`))),
  ],
  [
    'the same result twice',
    'b19',
    talk(user(text('hi')), model(call('a')), user(result('a'), result('a'))),
    talk(user(text('hi')), model(call('a')), user(result('a'))),
  ],
  [
    'a result behind text',
    'b20',
    talk(user(text('hi')), model(call('a')), user(text('y'), result('a'))),
    talk(
      user(text('hi')),
      model(call('a')),
      `{"role":"user", "content":[${result('a')},${text('y')}]}`,
    ),
  ],
  [
    'a plain id',
    'b21',
    talk(user(text('hi')), model(call('a.b')), user(result('a.b'))),
    talk(user(text('hi')), model(call('a_b')), user(result('a_b'))),
  ],
  [
    'an id used twice',
    'b21',
    talk(
      user(text('hi')),
      model(call('a')),
      user(result('a')),
      model(call('a')),
      user(result('a', '"2"')),
    ),
    talk(
      user(text('hi')),
      model(call('a')),
      user(result('a')),
      model(call('a_2')),
      user(result('a_2', '"2"')),
    ),
  ],
  [
    'an input as text',
    'b22',
    talk(user(text('hi')), model(call('a', '"{\\"n\\":12345678901234567890}"')), user(result('a'))),
    talk(user(text('hi')), model(call('a', '{"n":12345678901234567890}')), user(result('a'))),
  ],
  [
    'a list as input',
    'b22',
    talk(user(text('hi')), model(call('a', '[1.0]')), user(result('a'))),
    talk(user(text('hi')), model(call('a', '{"value":[1.0]}')), user(result('a'))),
  ],
  [
    'no input',
    'b22',
    talk(user(text('hi')), model(call('a', 'null')), user(result('a'))),
    talk(user(text('hi')), model(call('a', '{}')), user(result('a'))),
  ],
  [
    'an object as result',
    'b23',
    talk(user(text('hi')), model(call('a')), user(result('a', '{"t":5}'))),
    talk(user(text('hi')), model(call('a')), user(result('a', '"{\\"t\\":5}"'))),
  ],
  [
    'white space at the end',
    'b24',
    talk(user(text('hi')), model(text('So '))),
    talk(user(text('hi')), model(text('So'))),
  ],
  [
    'a begun answer for a newer model',
    'b25',
    talk(user(text('hi')), model(text('So'))),
    `"messages": [ ${user(text('hi'))} , ${model(text('So'))},{"role":"user","content":"Continue."} ]`,
    newer,
  ],
  [
    'a step without its thoughts',
    'b26',
    `"thinking":{"type":"enabled","budget_tokens":2000},${talk(user(text('hi')), model(call('a')), user(result('a')))}`,
    `"thinking":{"type":"disabled"},${talk(user(text('hi')), model(call('a')), user(result('a')))}`,
  ],
  [
    'an unsigned thought',
    'b27',
    talk(
      user(text('hi')),
      model('{"type":"thinking","thinking":"t","signature":""}', text('x')),
      user(text('y')),
    ),
    talk(user(text('hi')), model(text('x')), user(text('y'))),
  ],
  [
    'half a thought',
    'b28',
    talk(
      user(text('hi')),
      model('{"type":"thinking","signature":"s"}', text('x')),
      user(text('y')),
    ),
    talk(user(text('hi')), model(text('x')), user(text('y'))),
  ],
  ['a tool twice', 'b30', `"tools":[${tool()},${tool()}],${hello}`, `${tools},${hello}`],
  [
    'a tool without schema',
    'b31',
    `"tools":[{"name":"f"}],${hello}`,
    `"tools":[{"input_schema":{"type":"object"},"name":"f"}],${hello}`,
  ],
  [
    'an empty schema',
    'b31',
    `"tools":[{"name":"f","input_schema":{}}],${hello}`,
    `"tools":[{"name":"f","input_schema":{"type":"object"}}],${hello}`,
  ],
  [
    'a union on top',
    'b31',
    `"tools":[{"name":"f","description":"F.","input_schema":{"oneOf":[{"properties":{"a":{"maximum":1.0}}},{"properties":{"b":{}}}]}}],${hello}`,
    `"tools":[{"name":"f","description":"F.\\n\\nGive the arguments of one of: (a), (b).","input_schema":{"type":"object","properties":{"a":{"maximum":1.0},"b":{}}}}],${hello}`,
  ],
  ['a choice without tools', 'b32', `"tool_choice":{"type":"auto"},${hello}`, hello],
  [
    'calls of tools that are not defined',
    'b34',
    talk(user(text('hi')), model(call('a')), user(result('a'))),
    '',
    { model: 'us.anthropic.claude-sonnet-4-5-v1:0' },
  ],
  [
    'only deferred tools',
    'b35',
    `"tools":[${tool(',"defer_loading":true')}],${hello}`,
    `${tools},${hello}`,
  ],
  [
    'a wrong label',
    'b36',
    talk(user(image('image/jpeg', png))),
    talk(user(image('image/png', png))),
  ],
  [
    'a data URL',
    'b36',
    talk(user(image('image/png', `data:image/png;base64,${png}`))),
    talk(user(image('image/png', png))),
  ],
  [
    'lines of base64',
    'b36',
    talk(user(image('image/png', `${png.slice(0, 4)}\\n${png.slice(4)}`))),
    talk(user(image('image/png', png))),
  ],
  [
    'citations under the newest version',
    'b38',
    talk(user('{"type":"text","text":"hi","citations":[{}]}')),
    talk(user(text('hi'))),
    latest,
  ],
  [
    'the model’s document under the newest version',
    'b38',
    talk(user(text('hi')), model(text('x'), '{"type":"document","n":1.0}'), user(text('y'))),
    talk(
      user(text('hi')),
      model(text('x')),
      user('{"type":"document","n":1.0}', text('y')).replace(', {"type":"text"', ',{"type":"text"'),
    ),
    latest,
  ],
  [
    'metadata beside the user',
    'b40',
    `"metadata":{"team":"a","user_id":"u"},${hello}`,
    `"metadata":{"user_id":"u"},${hello}`,
  ],
  ['an address as user', 'b40', `"metadata":{"user_id":"me@example.com"},${hello}`, hello],
  ['half a character', 'b41', talk(user(text('hi \\ud83d'))), talk(user(text('hi �')))],
  [
    'a tool that is defined again where the cached part ends',
    'b30',
    `"tools":[${tool()},{"name":"g","input_schema":{"type":"object"}}, ${tool(`,${marker}`)}],${hello}`,
    `"tools":[${tool()},{${marker},"name":"g","input_schema":{"type":"object"}}],${hello}`,
  ],
  [
    'half a character in a document',
    'b41',
    talk(
      user(
        '{"type":"document","source":{"type":"text","media_type":"text/plain","data":"cut \\ud83d"}}',
      ),
    ),
    talk(
      user('{"type":"document","source":{"type":"text","media_type":"text/plain","data":"cut �"}}'),
    ),
  ],
  [
    'half a character in a search result that a tool gave back',
    'b41',
    talk(
      user(text('hi')),
      model(call('a')),
      user(
        result(
          'a',
          `[{"type":"search_result","title":"t","source":"s","content":[${text('cut \\ud83d')}]}]`,
        ),
      ),
    ),
    talk(
      user(text('hi')),
      model(call('a')),
      user(
        result(
          'a',
          `[{"type":"search_result","title":"t","source":"s","content":[${text('cut �')}]}]`,
        ),
      ),
    ),
  ],
  [
    'half a character in a call',
    'b41',
    talk(user(text('hi')), model(call('a', '{"n":1.0,"s":["\\udc00"]}')), user(result('a'))),
    talk(user(text('hi')), model(call('a', '{"n":1.0,"s":["�"]}')), user(result('a'))),
  ],
  [
    'a blank stop',
    'b42',
    `"stop_sequences":["", "END"],${hello}`,
    `"stop_sequences":["END"],${hello}`,
  ],
  ['a boolean as text', 'b43', `"stream":"true",${hello}`, `"stream":true,${hello}`],
];

/** What the table leaves out: the exact bytes are long. */
const longer: Readonly<Record<string, string>> = {
  'a result that comes later': talk(
    user(text('hi')),
    model(call('a')),
    `{"role":"user", "content":[${result('a', '"12"')},${text('wait')}]}`,
    model(text('ok')),
    user(text('y')),
  ),
  'calls of tools that are not defined': talk(
    user(text('hi')),
    model(call('a')),
    user(result('a')),
  ),
};

const fetched = talk(
  user(text('hi')),
  model(call('a')),
  `{"role":"user", "content":[${result('a')},${text('wait')}]}`,
  model(text('ok')),
);
const late = [user(text('hi')), model(call('a')), user(text('wait')), model(text('ok'))] as const;

const corners: readonly Case[] = [
  [
    'a result that was all of the last turn',
    'b17',
    talk(...late, user(result('a'))),
    fetched.replace(/ \]$/, ` , ${user(text('Continue.'))} ]`),
  ],
  [
    'a result that was all an instruction stood behind',
    'b17',
    talk(...late, user(result('a')), '{"role":"system","content":"s"}'),
    fetched.replace(/ \]$/, ` , ${user(text('Continue.'))} , {"role":"system","content":"s"} ]`),
    newer,
  ],
  [
    'a result that was all between two answers',
    'b17',
    talk(...late, user(result('a')), model(text('x')), user(text('y'))),
    fetched.replace(
      / \]$/,
      ` , ${user(text('(no content)'))} , ${model(text('x'))} , ${user(text('y'))} ]`,
    ),
  ],
  [
    'nothing behind an answer',
    'b12',
    talk(user(text('hi')), model(text('x')), '{"role":"assistant","content":""}'),
    talk(user(text('hi')), model(text('x'))),
  ],
  [
    'a plain id that another call has',
    'b21',
    talk(user(text('hi')), model(call('a.b'), call('a_b')), user(result('a.b'), result('a_b'))),
    talk(user(text('hi')), model(call('a_b_2'), call('a_b')), user(result('a_b_2'), result('a_b'))),
  ],
  [
    'a member named twice, of which upstreams read the later',
    'b21',
    talk(
      user(text('hi')),
      model(call('a.b').replace('"id"', '"id":"c.d","id"')),
      user(result('a.b')),
    ),
    talk(
      user(text('hi')),
      model(call('a_b').replace('"id"', '"id":"c.d","id"')),
      user(result('a_b')),
    ),
  ],
];

function named([what, id, before, after, options = {}]: Case) {
  return { what, id, before, after, options };
}

describe('repairs', () => {
  it.each([...mended, ...corners].map(named))(
    '$what ($id)',
    ({ what, id, before, after, options }) => {
      const name = options.model ?? 'claude-sonnet-4-5';
      const patched = patch(whole(before, name), { model: name, ...options });
      expect(patched.ids).toContain(id);
      let expected = whole(after === '' ? (longer[what] ?? '') : after, name);
      if (id === 'b34') {
        expected = expected.replace(
          '{',
          '{"tools":[{"name":"f","input_schema":{"type":"object"}}],',
        );
      }
      expect(patched.text).toBe(expected);
      expect(patch(patched.text, { model: name, ...options })).toMatchObject({
        ids: [],
        same: true,
      });
    },
  );
});

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
  ['a begun answer', talk(user(text('hi')), model(text('So')))],
  ['an empty begun answer', talk(user(text('hi')), model())],
  [
    'an answer that a provider’s tool broke off',
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
  ['metadata of somebody else', `"metadata":{"team":"a"},${hello}`, other],
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
  ['messages that are none', '"messages":"later"'],
  ['an image of an unknown kind', talk(user(image('image/avif', 'AAAA')))],
  ['a whole pair', talk(user(text('\\ud83d\\ude00')))],
  [
    'documents of the model under the older version',
    talk(user(text('hi')), model('{"type":"document"}', text('x')), user(text('y'))),
  ],
];

describe('what no rule speaks of', () => {
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

  it('is left alone beside what has to be mended', () => {
    const unknown = '{"type":"new","big":12345678901234567890,"a":[1.0 , 2E0]}';
    const before = talk(user(unknown, text('')), model(text('x')), user(text('y')));
    expect(patch(whole(before), {}).text).toBe(
      whole(talk(user(unknown), model(text('x')), user(text('y')))),
    );
  });
});

const refused: readonly (readonly [what: string, body: string, param: string, message: RegExp])[] =
  [
    ['no messages', '"messages":[]', 'messages', /at least one message/],
    [
      'two tools of one name',
      `"tools":[${tool()},${tool(',"strict":true')}],${hello}`,
      'tools.1.name',
      /another tool already: f/,
    ],
    [
      'two tools of one name that nobody takes',
      `"tools":[{"name":"a.b"},{"name":"a.b","strict":true}],${hello}`,
      'tools.1.name',
      /another tool already: a\.b$/,
    ],
    [
      'a tool that is not there',
      `${tools},"tool_choice":{"type":"tool","name":"g"},${hello}`,
      'tool_choice.name',
      /names g, which is not among the tools/,
    ],
    [
      'a wide image',
      talk(user(image('image/png', 'iVBORw0KGgoAAAANSUhEUgAAH0EAAAABCAYAAAA='))),
      'messages.0.content.0',
      /8000 pixels/,
    ],
    [
      'a wide image that a tool gave back',
      talk(
        user(text('hi')),
        model(call('a')),
        user(
          result(
            'a',
            `[${text('x')},${image('image/png', 'iVBORw0KGgoAAAANSUhEUgAAH0EAAAABCAYAAAA=')}]`,
          ),
        ),
      ),
      'messages.2.content.0.content.1',
      /8000 pixels/,
    ],
    [
      'a heavy image',
      talk(user(text('hi'), image('image/jpeg', `/9j/${'A'.repeat(14_000_000)}`))),
      'messages.0.content.1',
      /10 MB/,
    ],
    [
      'citations in an answer of a given form',
      `"output_config":{"format":{"type":"json_schema","schema":{}}},${talk(user('{"type":"document","citations":{"enabled":true}}'))}`,
      'output_config.format',
      /citations/,
    ],
  ];

describe('refusals', () => {
  it.each(refused)('%s', (_, body, param, message) => {
    const error = catchError(() => patch(whole(body), {}));
    expect(error).toMatchObject({ errorName: 'invalid_value', param });
    expect(error.message).toMatch(message);
    expect(error.entry.status).toBe(400);
  });
});

function catchError(run: () => unknown): GatewayError {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('the table', () => {
  it('has one rule of each number', () => {
    const ids = rules.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has a test of every rule', () => {
    const tested = new Set([...mended.map(([, id]) => id), 'b33', 'b37', 'b44']);
    expect(rules.map(({ id }) => id).filter((id) => !tested.has(id))).toEqual([]);
  });

  it('is what the documentation says', () => {
    const page = readFileSync(new URL('../../../../../docs/repairs.md', import.meta.url), 'utf8');
    const told = [...page.matchAll(/^\| `(b\d+)` /gm)].map(([, id]) => String(id));
    const ids: string[] = ['b2', ...rules.map(({ id }) => id)];
    const byNumber = (a: string, b: string): number => Number(a.slice(1)) - Number(b.slice(1));
    expect(told).toEqual(ids.toSorted(byNumber));
  });
});

it('a mapped name and the declared rewrites go with the repairs', () => {
  const before = `{ "temperature":0.5,"top_p":0.2 , "model":"alias","max_tokens":9000,${talk(user(text(''), text('a')))}}`;
  expect(patch(before, { model: 'claude-opus-4-8', limit: 500 })).toMatchObject({
    text: `{ "model":"claude-opus-4-8","max_tokens":500,${talk(user(text('a')))}}`,
    ids: ['b1', 'b2', 'b13'],
  });
});

it('numbers as text are numbers, also for what they bound', () => {
  const before = `{"model":"claude-sonnet-4-5","max_tokens":"900","thinking":{"type":"enabled","budget_tokens":"2000"},${hello}}`;
  expect(patch(before, {})).toMatchObject({
    text: `{"model":"claude-sonnet-4-5","max_tokens":900,${hello}}`,
    ids: ['b3', 'b43'],
  });
  const path = { operation: 'generate', model: null, stream: null } as const;
  const request = messages.readRequest(messages.openRequest(Buffer.from(before), path));
  expect(request.maxOutputTokens).toBe(900);
});
