import { talk, user, model, text, call, result, noResult, newer, type Case } from './requests.ts';

const fetched = talk(
  user(text('hi')),
  model(call('a')),
  `{"role":"user", "content":[${result('a')},${text('wait')}]}`,
  model(text('ok')),
);
const late = [user(text('hi')), model(call('a')), user(text('wait')), model(text('ok'))] as const;

/** Calls of tools and their results. */
export const callCases: readonly Case[] = [
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
