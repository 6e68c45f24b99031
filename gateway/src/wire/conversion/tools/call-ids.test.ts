import { describe, expect, test } from 'vitest';
import { Unconvertible, type GenerationRequest } from '#canonical/index.ts';
import { assistant, call, requestOf, result, traitsOf, user } from '#test/support/canonical.ts';
import { assignCallIds } from './call-ids.ts';

const idsOf = ({ turns }: GenerationRequest) =>
  turns.flatMap(({ blocks }) =>
    blocks.flatMap((block) =>
      block.type === 'tool-call' || block.type === 'tool-result' ? [block.id] : [],
    ),
  );

const turns = [
  user('go'),
  assistant(
    call({ id: null, name: 'a', arguments: '1' }),
    call({ id: null, name: 'b' }),
    call({ id: null, name: 'a', arguments: '2' }),
  ),
  user(
    result({ id: null, name: 'b' }),
    result({ id: null, name: 'a' }),
    result({ id: null, name: 'a' }),
  ),
];

describe('ids of calls', () => {
  test('results without ids belong to calls by name, then by order', () => {
    const [a1, b, a2, ...results] = idsOf(assignCallIds(requestOf({ turns }), traitsOf()));
    expect(new Set([a1, b, a2]).size).toBe(3);
    expect(results).toEqual([b, a1, a2]);
    expect(a1).toMatch(/^call_[0-9a-f]{24}$/);
  });

  test('results with ids that no call has belong to calls without an id', () => {
    const given = [
      assistant(
        call({ id: null, name: 'a' }),
        call({ id: 'own', name: 'a' }),
        call({ id: null, name: 'b' }),
      ),
      user(
        result({ id: 'y', name: 'b' }),
        result({ id: 'x', name: 'a' }),
        result({ id: 'own', name: 'a' }),
      ),
    ];
    const [a, own, b, ...results] = idsOf(assignCallIds(requestOf({ turns: given }), traitsOf()));
    expect(results).toEqual([b, a, own]);
    // A second result for a call stays that call's.
    const twice = [
      assistant(call({ id: null, name: 'a' }), call({ id: 'own', name: 'a' })),
      user(result({ id: 'own' }), result({ id: 'own' })),
    ];
    expect(idsOf(assignCallIds(requestOf({ turns: twice }), traitsOf())).slice(2)).toEqual([
      'own',
      'own',
    ]);
  });

  test('a growing history keeps the ids of its beginning', () => {
    const before = idsOf(assignCallIds(requestOf({ turns }), traitsOf()));
    const longer = [...turns, assistant('done', call({ id: null })), user(result({ id: null }))];
    const after = idsOf(assignCallIds(requestOf({ turns: longer }), traitsOf()));
    expect(after.slice(0, before.length)).toEqual(before);
  });

  test('an id that the upstream refuses is replaced on the call and on its result', () => {
    const odd = [assistant(call({ id: 'functions.a:0' })), user(result({ id: 'functions.a:0' }))];
    const [own, answered] = idsOf(assignCallIds(requestOf({ turns: odd }), traitsOf()));
    expect(own).toMatch(/^call_[0-9a-f]{24}$/);
    expect(answered).toBe(own);
    const free = traitsOf({ toolId: null });
    expect(idsOf(assignCallIds(requestOf({ turns: odd }), free))).toEqual([
      'functions.a:0',
      'functions.a:0',
    ]);
  });

  test.each([
    [
      'of another name',
      [assistant(call({ id: null, name: 'a' })), user(result({ id: null, name: 'b' }))],
    ],
    ['too many', [...turns, user(result({ id: null, name: 'a' }))]],
  ])('a result %s is refused', (_, history) => {
    expect(() => assignCallIds(requestOf({ turns: history }), traitsOf())).toThrow(Unconvertible);
  });
});
