import { describe, expect, test } from 'vitest';
import { Unconvertible } from '../../canonical/index.ts';
import { assistant, call, requestOf, result, user } from '../../../test/support/canonical.ts';
import { LossList } from '../losses.ts';
import { pairCalls } from './pair-calls.ts';

const a = call({ id: 'a' });
const b = call({ id: 'b' });
const [ofA, ofB] = [result({ id: 'a' }), result({ id: 'b' })];
const paired = (turns: Parameters<typeof requestOf>[0] & object, repairs = false) =>
  pairCalls(requestOf(turns), repairs, new LossList()).turns;

describe('K19, K15: calls and their results', () => {
  test('results of several turns become one, in the order of the calls, before all else', () => {
    const turns = [user('go'), assistant(a), assistant(b), user('hm', ofB), user(ofA)];
    expect(paired({ turns })).toEqual([user('go'), assistant(a, b), user(ofA, ofB, 'hm')]);
  });

  test('a system turn in between comes after the results', () => {
    const system = { role: 'system', blocks: [{ type: 'text', text: 'note' }] } as const;
    const turns = [user('go'), assistant(a), system, user(ofA)];
    expect(paired({ turns })).toEqual([user('go'), assistant(a), user(ofA), system]);
  });

  test('calls at the very end wait for nothing', () => {
    const turns = [user('go'), assistant(a)];
    expect(paired({ turns })).toEqual(turns);
  });

  test.each([
    ['a result without a call', [user('go'), user(ofA)]],
    [
      'a result of an earlier turn',
      [user('go'), assistant(a), user(ofA), assistant(b), user(ofB, ofA)],
    ],
    ['a call without a result', [user('go'), assistant(a, b), user(ofA), user('on')]],
    ['a call that is talked over', [user('go'), assistant(a), user('on')]],
  ])('%s is refused', (_, turns) => {
    expect(() => paired({ turns })).toThrow(Unconvertible);
  });

  test('where the client’s own vendor would repair it, an unanswered call gets an empty result', () => {
    const losses = new LossList();
    const turns = [user('go'), assistant(a, b), user(ofB, 'on')];
    const [, , answers] = pairCalls(requestOf({ turns }), true, losses).turns;
    expect(answers?.blocks).toMatchObject([
      { id: 'a', object: { error: expect.any(String) } },
      ofB,
      { text: 'on' },
    ]);
    expect(losses.all()).toEqual([{ what: 'tool_result', how: 'approximated' }]);
  });
});
