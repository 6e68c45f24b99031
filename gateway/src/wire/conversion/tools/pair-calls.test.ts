import { describe, expect, test } from 'vitest';
import { Unconvertible, type Block, type Turn, LossList } from '#canonical/index.ts';
import { assistant, call, requestOf, result, user } from '#test/support/canonical.ts';
import { lossCodes } from '../losses.ts';
import { pairCalls } from './pair-calls.ts';

const a = call({ id: 'a' });
const b = call({ id: 'b' });
const [ofA, ofB] = [result({ id: 'a' }), result({ id: 'b' })];
const paired = (turns: Parameters<typeof requestOf>[0] & object, repairs = false) =>
  pairCalls(requestOf(turns), repairs, new LossList()).turns;

describe('K19, K15: calls and their results', () => {
  test('results of several turns become one, in the order of the calls, before everything else', () => {
    const turns = [user('go'), assistant(a), assistant(b), user('hm', ofB), user(ofA)];
    expect(paired({ turns })).toEqual([user('go'), assistant(a, b), user(ofA, ofB, 'hm')]);
  });

  test('a system turn in between follows the results', () => {
    const system = { role: 'system', blocks: [{ type: 'text', text: 'note' }] } as const;
    const turns = [user('go'), assistant(a), system, user(ofA)];
    expect(paired({ turns })).toEqual([user('go'), assistant(a), user(ofA), system]);
  });

  test('a late result moves to its call, whatever came between', () => {
    const turns = [user('go'), assistant(a, b), user(ofA, 'on'), assistant('hm'), user(ofB)];
    expect(paired({ turns })).toEqual([
      user('go'),
      assistant(a, b),
      user(ofA, ofB, 'on'),
      assistant('hm'),
    ]);
    const told = [user('go'), assistant(a), user('on'), assistant(b), user(ofB, ofA, 'so')];
    expect(paired({ turns: told })).toEqual([
      user('go'),
      assistant(a),
      user(ofA, 'on'),
      assistant(b),
      user(ofB, 'so'),
    ]);
  });

  test('late results of one id go to the calls of that id, one each', () => {
    const again = result({ id: 'a', content: [{ type: 'text', text: 'again' }] });
    const turns = [user('go'), assistant(a), user('on'), assistant(a), user('so'), assistant('hm')];
    expect(paired({ turns: [...turns, user(ofA), assistant('well'), user(again)] })).toEqual([
      user('go'),
      assistant(a),
      user(ofA, 'on'),
      assistant(a),
      user(again, 'so'),
      assistant('hm', 'well'),
    ]);
  });

  test('calls at the very end need no result', () => {
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

  describe('if the client’s own vendor would repair it', () => {
    const repaired = (...turns: Turn[]) => {
      const losses = new LossList();
      return [pairCalls(requestOf({ turns }), true, losses).turns, lossCodes(losses.all())];
    };
    const approximated = ['approximated:tool_result'];
    const empty = expect.objectContaining({ id: 'a', object: { error: expect.any(String) } });

    test('an unanswered call gets an empty result', () => {
      const answered = { role: 'user', blocks: [empty, ofB, { type: 'text', text: 'on' }] };
      const said = [user('go'), assistant(a, b)];
      expect(repaired(...said, user(ofB, 'on'))).toEqual([[...said, answered], approximated]);
    });

    test('also if only instructions follow', () => {
      const note: Turn = { role: 'system', blocks: [{ type: 'text', text: 'note' }] };
      const said = [user('go'), assistant(a)];
      const answered = { role: 'user', blocks: [empty] };
      expect(repaired(...said, note)).toEqual([[...said, answered, note], approximated]);
    });

    test('a call at the very end is dropped, together with its reasoning', () => {
      const thought = { type: 'reasoning', text: 'so' } as const;
      const lost = ['dropped:tool_call'];
      expect(repaired(user('go'), assistant(thought, a))).toEqual([[user('go')], lost]);
      const spoken = assistant('now');
      expect(repaired(user('go'), assistant('now', a))).toEqual([[user('go'), spoken], lost]);
    });

    test('a result without a call is quoted', () => {
      const image: Block = {
        type: 'image',
        source: { kind: 'url', url: 'https://a.example/b.png', mime: null },
      };
      const stray = result({ id: 'x', content: [{ type: 'text', text: 'out' }, image] });
      expect(repaired(user(stray, 'on'))).toEqual([
        [user('[Result of tool call x]\nout', image, 'on')],
        approximated,
      ]);
      const failed = result({ id: 'x', content: [], isError: true });
      expect(repaired(user('go'), assistant(a), user(ofA, failed))).toEqual([
        [user('go'), assistant(a), user(ofA, '[Error of tool call x]')],
        approximated,
      ]);
    });

    test('of two results of one call the later one counts', () => {
      const later = result({ id: 'a', content: [{ type: 'text', text: 'later' }] });
      const said = [user('go'), assistant(a)];
      expect(repaired(...said, user(ofA, later))).toEqual([[...said, user(later)], approximated]);
    });
  });
});
