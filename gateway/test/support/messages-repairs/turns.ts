import {
  talk,
  hello,
  user,
  model,
  text,
  call,
  result,
  marker,
  marked,
  newer,
  other,
  latest,
  type Case,
} from './requests.ts';

/** Turns: whose they are, what they say, where they stand. */
export const turnCases: readonly Case[] = [
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
    'white space at the end',
    'b24',
    talk(user(text('hi')), model(text('So '))),
    talk(user(text('hi')), model(text('So'))),
  ],
  [
    'a begun response for a newer model',
    'b25',
    talk(user(text('hi')), model(text('So'))),
    `"messages": [ ${user(text('hi'))} , ${model(text('So'))},{"role":"user","content":"Continue."} ]`,
    newer,
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
  ['half a character', 'b41', talk(user(text('hi \\ud83d'))), talk(user(text('hi �')))],
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
    'nothing behind a response',
    'b12',
    talk(user(text('hi')), model(text('x')), '{"role":"assistant","content":""}'),
    talk(user(text('hi')), model(text('x'))),
  ],
];
