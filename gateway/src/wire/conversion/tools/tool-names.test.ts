import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { requestOf, tool, traitsOf, assistant, call } from '#test/support/canonical.ts';
import { nameTools } from './tool-names.ts';

const traits = traitsOf();

describe('K16 names of tools', () => {
  test('a good name stays as it is, a bad one gets the same new one every time', () => {
    const long = `mcp__${'x'.repeat(80)}`;
    const plan = () =>
      nameTools(requestOf({ tools: [tool('ok'), tool('a.b'), tool(long)] }), traits);
    const names = plan();
    expect(names.toUpstream('ok', undefined)).toBe('ok');
    expect(names.toUpstream('a.b', undefined)).toMatch(/^a_b_[0-9a-f]{6}$/);
    expect(names.toUpstream(long, undefined)).toHaveLength(64);
    expect(plan().toUpstream(long, undefined)).toBe(names.toUpstream(long, undefined));
    const alone = nameTools(requestOf({ tools: [tool('a.b')] }), traits);
    expect(alone.toUpstream('a.b', undefined)).toBe(names.toUpstream('a.b', undefined));
  });

  test('names are distinct upstream and come back unchanged', () => {
    const name = fc.string({ minLength: 1, maxLength: 90, unit: 'binary' });
    const namespace = fc.option(fc.string({ minLength: 1, maxLength: 10 }), { nil: undefined });
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(name, namespace), { selector: (pair) => JSON.stringify(pair) }),
        (pairs) => {
          const tools = pairs.map(([each, space]) => tool(each, space));
          const names = nameTools(requestOf({ tools }), traits);
          const renamed = pairs.map(([each, space]) => names.toUpstream(each, space));
          expect(new Set(renamed).size).toBe(pairs.length);
          renamed.forEach((upstream, at) => {
            expect(upstream).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
            const [own, space] = pairs[at]!;
            expect(names.clientTools.get(upstream)).toEqual({
              name: own,
              namespace: space,
              kind: 'function',
            });
          });
        },
      ),
    );
  });

  test('a flattened name never collides with a real one', () => {
    const tools = [tool('run', 'shell'), tool('shell__run')];
    const names = nameTools(requestOf({ tools }), traits);
    expect(names.toUpstream('shell__run', undefined)).toBe('shell__run');
    expect(names.toUpstream('run', 'shell')).toMatch(/^shell__run_[0-9a-f]{6}$/);
  });

  test('calls of removed tools are renamed the same way; an unknown name stays', () => {
    const turns = [assistant(call({ name: 'gone tool' }))];
    const names = nameTools(requestOf({ turns }), traits);
    expect(names.toUpstream('gone tool', undefined)).toMatch(/^gone_tool_/);
    expect(names.clientTools.has('invented')).toBe(false);
  });
});
