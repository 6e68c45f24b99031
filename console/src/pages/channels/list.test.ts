import { expect, test } from 'vitest';
import { belongsTo, contains, equalsOf, ordered, type Channel } from './list.ts';

const channel = (name: string, members: Partial<Channel> = {}): Channel => ({
  id: `ch_${name}`,
  name,
  provider: 'openai',
  protocols: ['chat'],
  groups: ['default'],
  models: ['gpt-5'],
  priority: 0,
  weight: 1,
  enabled: true,
  owner: 'console',
  editable: true,
  declared_in: null,
  revision: 1,
  created: '2026-11-25T10:00:00.000Z',
  alone: { count: 0, models: [] },
  api_keys: [],
  state: 'works',
  rest_ms: 0,
  credentials: { ready: 1, cooling: 0, disabled: 0 },
  verdict: 'answers',
  recent: null,
  ...members,
});
const recent = (attempts: number): Channel['recent'] => ({
  attempts,
  failed: 0,
  success: 1,
  hours: [],
  first_token_ms: null,
  errors: [],
  answered_at: null,
  failing: null,
  last_failure: null,
});
const namesOf = (channels: readonly Channel[]) => channels.map(({ name }) => name);

test('what fails comes first, then what is asked most; what is disabled comes last', () => {
  const all = [
    channel('off', { enabled: false, verdict: 'fails' }),
    channel('quiet', { verdict: 'unasked' }),
    channel('small', { recent: recent(1) }),
    channel('large', { recent: recent(9) }),
    channel('unsteady', { verdict: 'unsteady' }),
    channel('failing', { verdict: 'fails' }),
  ];
  const names = ['failing', 'unsteady', 'large', 'small', 'quiet', 'off'];
  expect(namesOf(ordered(all, undefined))).toEqual(names);
  expect(namesOf(ordered(all, '-attempts')).slice(0, 2)).toEqual(['large', 'small']);
});

test.each<[Partial<Channel>, string[]]>([
  [{ enabled: false, verdict: 'fails', state: 'rests' }, ['disabled']],
  [{ verdict: 'unsteady', state: 'works' }, ['failing']],
  [{ verdict: 'fails', state: 'rests' }, ['failing', 'resting']],
  // This node does not know it yet.
  [{ state: null }, []],
])('a channel with %o is among those that are %j', (members, parts) => {
  const one = channel('one', members);
  expect(Object.entries(belongsTo).flatMap(([name, has]) => (has(one) ? name : []))).toEqual(parts);
});

test.each(['EAST', 'openai', 'default', 'gpt', ' east '])('%s finds the channel', (text) => {
  expect(contains(channel('east'), text)).toBe(true);
});

test('channels share requests at one priority, in one group, for one model', () => {
  const own = channel('own', { models: ['gpt-5', 'gpt-5-mini'] });
  const all = [
    own,
    channel('equal'),
    channel('off', { enabled: false }),
    channel('later', { priority: -1 }),
    channel('other-group', { groups: ['coding'] }),
    channel('other-model', { models: ['claude'] }),
  ];
  expect(namesOf(equalsOf(own, all))).toEqual(['equal']);
});
