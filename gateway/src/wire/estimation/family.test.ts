import { describe, expect, it } from 'vitest';
import { familyOf } from './family.ts';

const named = (model: string) => familyOf({ model, protocol: 'chat' });

describe('the family of a model', () => {
  it.each([
    ['gpt-4o', 'openai'],
    ['openai/gpt-5.1-codex-mini', 'openai'],
    ['o3', 'openai'],
    ['azure/o4-mini', 'openai'],
    ['openai.gpt-oss-20b', 'gpt-oss'],
    ['claude-3-opus-20240229', 'anthropic'],
    ['us.anthropic.claude-3-7-sonnet-20250219-v1:0', 'anthropic'],
    ['Anthropic/Claude-Sonnet-4.5', 'anthropic'],
    ['models/gemini-3-pro-preview', 'gemini'],
    ['x-ai/grok-4.1-fast', 'grok'],
    ['deepseek-chat', 'deepseek'],
    ['moonshotai/kimi-k2', 'other'],
    ['foo-3', 'other'],
    ['', 'other'],
  ])('%s: %s', (model, family) => {
    expect(named(model).name).toBe(family);
  });

  it('Claude’s newer tokenizer takes more for the same text', () => {
    const older = ['claude-sonnet-4-20250514', 'claude-3-5-sonnet-latest', 'claude-opus-4-1'];
    const middle = ['claude-sonnet-4-5-20250929', 'claude-haiku-4-5', 'anthropic/claude-opus-4.6'];
    const newer = ['claude-opus-4-7', 'claude-opus-4-8', 'claude-sonnet-5', 'claude-opus-5'];
    expect(older.map((model) => named(model).said)).toEqual([1.2, 1.2, 1.2]);
    expect(middle.map((model) => named(model).said)).toEqual([1.25, 1.25, 1.25]);
    expect(newer.map((model) => named(model).said)).toEqual([1.55, 1.55, 1.55, 1.55]);
  });

  it('the same model may take more for tools in one protocol than in another', () => {
    const responses = familyOf({ model: 'gpt-5-mini', protocol: 'responses' });
    expect(named('gpt-5-mini').tool).toBeGreaterThan(responses.tool);
  });
});
