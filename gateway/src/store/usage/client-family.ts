/** Beginnings of user agents, in lower case, and the family that each belongs to. */
const families: readonly (readonly [beginning: string, family: string])[] = [
  ['claude-cli/', 'claude-code'],
  ['claude-code/', 'claude-code'],
  ['codex', 'codex'],
  // `GeminiCLI/…`, since 0.61 `GeminiCLI-tui/…` and the like.
  ['geminicli', 'gemini-cli'],
  ['qwencode/', 'qwen-code'],
  ['opencode/', 'opencode'],
  ['cline/', 'cline'],
  ['continue/', 'continue'],
  ['cursor', 'cursor'],
  ['open-webui', 'open-webui'],
  ['openai/js', 'openai-js'],
  ['openai/python', 'openai-python'],
  ['asyncopenai/python', 'openai-python'],
  ['anthropic/js', 'anthropic-js'],
  ['anthropic/python', 'anthropic-python'],
  ['asyncanthropic/python', 'anthropic-python'],
  ['google-genai-sdk', 'google-genai'],
  ['curl/', 'curl'],
  ['node', 'node'],
  ['python', 'python'],
];

/** The family of clients that a user agent belongs to. Never its text: whoever sends it chooses it. */
export function clientOf(userAgent: string | null): string {
  const text = (userAgent ?? '').toLowerCase();
  return families.find(([beginning]) => text.startsWith(beginning))?.[1] ?? 'other';
}
