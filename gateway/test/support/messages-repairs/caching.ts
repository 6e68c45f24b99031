import {
  talk,
  hello,
  user,
  model,
  text,
  tool,
  marker,
  long,
  marked,
  type Case,
} from './requests.ts';

/** Markers of the cache. */
export const cachingCases: readonly Case[] = [
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
];
