import { describe, expect, test } from 'vitest';
import { Unconvertible, type HostedTool, type ToolChoice, LossList } from '#canonical/index.ts';
import { requestOf, tool } from '#test/support/canonical.ts';
import { dropHostedTools } from './hosted-tools.ts';

const search: HostedTool = {
  type: 'hosted',
  kind: 'web-search',
  protocol: 'responses',
  name: 'web_search',
  value: { type: 'web_search' },
};

const run = (toolChoice: ToolChoice | null, tools = [tool('own'), search], can: string[] = []) => {
  const losses = new LossList();
  const request = dropHostedTools(
    requestOf({ tools, toolChoice }),
    'messages',
    new Set(can),
    losses,
  );
  return { request, losses: losses.all() };
};

describe('K17 tools that a vendor runs', () => {
  test('are dropped and reported', () => {
    const { request, losses } = run({ mode: 'auto', only: ['own', 'web_search'] });
    expect(request.tools).toEqual([tool('own')]);
    expect(request.toolChoice).toEqual({ mode: 'auto', only: ['own'] });
    expect(losses).toEqual([{ what: 'tools.web_search', how: 'dropped' }]);
  });

  test('a choice among no tools is dropped', () => {
    expect(run({ mode: 'auto', only: null }, [search]).request.toolChoice).toBeNull();
    expect(run({ mode: 'auto', only: ['web_search'] }).request.toolChoice).toEqual({
      mode: 'none',
      only: null,
    });
  });

  test('are refused if they must be called', () => {
    expect(() => run({ mode: 'required', only: ['web_search'] })).toThrow(Unconvertible);
    expect(() => run({ mode: 'required', only: null }, [search])).toThrow(Unconvertible);
  });

  test('pass if the model has such tools', () => {
    const { request, losses } = run(null, [search], ['hosted_tools']);
    expect(request.tools).toEqual([search]);
    expect(losses).toEqual([]);
  });
});
