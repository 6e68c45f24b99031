import { expect, test } from 'vitest';
import { leastCachedOf } from './index.ts';

test.each([
  ['claude-opus-5', 512],
  ['claude-fable-5-1', 512],
  ['us.anthropic.claude-mythos-5-v1:0', 512],
  ['claude-mythos-preview', 2048],
  ['claude-opus-4-8', 1024],
  ['claude-opus-4-7@20260401', 2048],
  ['claude-opus-4-6', 4096],
  ['anthropic/claude-opus-4.5', 4096],
  ['claude-4.5-opus-20251124', 4096],
  ['claude-opus-4-1-20250805', 1024],
  ['claude-sonnet-5', 1024],
  ['claude-sonnet-4-6', 1024],
  ['claude-haiku-4-5-20251001', 4096],
  ['claude-3-5-haiku-20241022', 2048],
  ['claude-3-haiku-20240307', 2048],
  ['claude-3-opus-20240229', 1024],
  ['some-other-model', 1024],
])('%s caches prompts from %i tokens on', (model, tokens) => {
  expect(leastCachedOf(model)).toBe(tokens);
});
