import { expect, test } from 'vitest';
import { createOpenIntents, readIntents, type Intent } from './intents.ts';

const intent = (id: string, parts: Partial<Intent> = {}): Intent => ({
  id,
  attempt: 1,
  time: 5,
  keyId: 'key_1',
  userId: 'usr_1',
  teamId: null,
  model: 'm',
  channel: 'c',
  held: 12n,
  ...parts,
});

test('an intent is written once, as it was', () => {
  const intents = createOpenIntents();
  const all = [intent('a'), intent('a', { attempt: 2, held: null, teamId: 't' }), intent('b')];
  for (const each of all) intents.begin(each);
  expect(readIntents(intents.take(1, 0) ?? '')).toEqual(all);
  expect(intents.take(2, 0)).toBeNull();
});

test('an exchange that ended before the commit needs none', () => {
  const intents = createOpenIntents();
  intents.begin(intent('a'));
  intents.begin(intent('b'));
  intents.end('a');
  expect(readIntents(intents.take(1, 0) ?? '').map(({ id }) => id)).toEqual(['b']);
  intents.begin(intent('c'));
  intents.end('c');
  expect(intents.take(1, 0)).toBeNull();
});

test('what is open for long, or was written much earlier in the journal, is written again', () => {
  const intents = createOpenIntents();
  intents.begin(intent('a'));
  intents.take(1, 0);
  intents.renew(29_000, 0);
  expect(intents.take(29_000, 0)).toBeNull();
  intents.renew(30_001, 0);
  expect(readIntents(intents.take(30_001, 0) ?? '')).toEqual([intent('a')]);
  const bytes = 9 * 2 ** 20;
  intents.renew(30_002, bytes);
  expect(intents.take(30_002, bytes)).not.toBeNull();
  intents.end('a');
  intents.renew(90_000, bytes);
  expect(intents.take(90_000, bytes)).toBeNull();
});
