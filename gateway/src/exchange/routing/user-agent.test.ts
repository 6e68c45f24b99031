import { expect, test } from 'vitest';
import { matchesUserAgent } from './user-agent.ts';

test.each([
  ['claude-cli/*', 'claude-cli/2.1.328 (external, cli)', true],
  ['claude-cli/*', 'Claude-CLI/1', true],
  ['claude-cli/*', 'x claude-cli/1', false],
  ['*codex*', 'codex_exec/0.169', true],
  ['*codex*', 'opencode/1.18', false],
  ['curl/8', 'curl/8', true],
  ['curl/8', 'curl/8.1', false],
  ['*a*b*', 'xaxxbx', true],
  ['*a*b*', 'xbxxa', false],
  ['a*a', 'a', false],
  ['*', '', true],
  ['curl/*', '', false],
  ['curl/8.?', 'curl/8.1', true],
  ['curl/8.?', 'curl/8.', false],
  ['curl/8.?', 'curl/8.10', false],
  ['?url/*', 'curl/8', true],
  ['*cli/?.0 *', 'claude-cli/10.0 claude-cli/2.0 x', true],
  ['*cli/?.0 *', 'claude-cli/10.0 x', false],
  ['*/?', 'curl/8', true],
  ['*/?', 'curl/', false],
])('%s against %s is %s', (glob, userAgent, expected) => {
  expect(matchesUserAgent([glob], userAgent)).toBe(expected);
});

test.each(['*a'.repeat(50), `*${'?'.repeat(100)}${'*a'.repeat(50)}`])(
  'a hostile glob such as %s and a long text stay linear',
  (glob) => {
    expect(matchesUserAgent([glob], `${'a'.repeat(49)}b`.repeat(1000))).toBe(false);
  },
);
