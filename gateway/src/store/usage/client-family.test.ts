import { expect, test } from 'vitest';
import { clientOf } from './client-family.ts';

test.each([
  ['GeminiCLI/0.40.0/gemini-3-pro (linux; x64)', 'gemini-cli'],
  ['GeminiCLI-tui/0.61.0/gpt-5.4 (linux; x64; terminal) google-genai-sdk/1.30.0', 'gemini-cli'],
  ['claude-cli/2.1.332 (external, cli)', 'claude-code'],
  ['my-claude-cli/1', 'other'],
  [null, 'other'],
])('%s is %s', (userAgent, family) => {
  expect(clientOf(userAgent)).toBe(family);
});
