/** Secrets of the keys that send requests. */
export const demoSecrets = {
  laptop: 'sk-laptop-0123456789abcdefghijklmnopqrstu',
  ci: 'sk-ci-0123456789abcdefghijklmnopqrstuvwxyz',
  webui: 'sk-webui-0123456789abcdefghijklmnopqrstuv',
  search: 'sk-search-0123456789abcdefghijklmnopqrstu',
  coding: 'sk-coding-0123456789abcdefghijklmnopqrstu',
} as const;

export type DemoKey = keyof typeof demoSecrets;

const day = 86_400_000;
const inDays = (count: number) => new Date(Date.now() + count * day).toISOString().slice(0, 19);

const anthropic = 'provider: anthropic, base_url: "SIMULATOR", api_key: demo';
const openai = 'provider: openai, base_url: "SIMULATOR", api_key: demo';

const both = 'groups: [default, coding]';

/** Bundled models that the file below names. */
export const demoModels = (
  'claude-opus-4-8 claude-sonnet-5 claude-haiku-4-5 gpt-5 gpt-5-mini gemini-2.5-flash ' +
  'text-embedding-3-large demo-chat demo-reasoning demo-image demo-video-1'
).split(' ');

/**
 * An organisation as it could be: several vendors behind channels, one of which is refused and one of which fails; teams,
 * people and keys with limits; a model without a price and one that is free.
 */
export const demoConfig = `
groups:
  - { name: coding, price_multiplier: 0.85 }
channels:
  - { name: anthropic-main, ${both}, ${anthropic}, models: [claude-opus-4-8, claude-sonnet-5, claude-haiku-4-5] }
  - { name: bedrock-eu, ${both}, ${anthropic}, priority: -1, models: [{ name: claude-sonnet-5, upstream: eu.claude-sonnet-5 }] }
  - { name: azure-eu, ${both}, provider: openai, base_url: "SIMULATOR/fault(status=500)/v1", api_key: demo, priority: 1, models: [gpt-5] }
  - { name: openai-main, ${both}, ${openai}, models: [gpt-5, gpt-5-mini, text-embedding-3-large] }
  - { name: gemini-main, ${both}, provider: gemini, base_url: "SIMULATOR", api_key: demo, models: [gemini-2.5-flash] }
  - { name: groq-fast, ${both}, priority: 1, provider: openai-compatible, base_url: "SIMULATOR", api_key: invalid, models: [llama-fast] }
  - { name: vllm-own, ${both}, provider: openai-compatible, base_url: "SIMULATOR", api_key: demo, models: [qwen3-coder, llama-fast, gpt-oss-120b] }
  - { name: edge-node, ${both}, provider: simulator, base_url: "SIMULATOR/fault(cut-at=3)", protocols: [chat], models: [mistral-edge] }
  - { name: llama-own, ${both}, provider: simulator, base_url: "SIMULATOR/fault(gap=120;events=60)", protocols: [chat], models: [llama-405b] }
  - { name: phi-own, ${both}, provider: simulator, base_url: "SIMULATOR/fault(usage=missing)", protocols: [chat], models: [phi-local] }
  - { name: demo, ${both}, provider: simulator, base_url: "SIMULATOR", models: [demo-chat, demo-reasoning, demo-image, demo-video-1] }
models:
  - { id: qwen3-coder, type: chat, context_window: 262144, price: { input: 0, output: 0 } }
  - { id: llama-fast, type: chat, context_window: 131072, price: { input: 0.05, output: 0.08 } }
  - { id: gpt-oss-120b, type: chat, context_window: 131072 }
  - { id: mistral-edge, type: chat, price: { input: 1, output: 2 } }
  - { id: llama-405b, type: chat, price: { input: 1, output: 2 } }
  - { id: phi-local, type: chat, price: { input: 1, output: 2 } }
aliases: { coder: qwen3-coder }
teams:
  - { name: platform, balance: 2000, budget: { monthly: 400 } }
  - { name: support, balance: 100, budget: { total: 20 } }
users:
  - { email: admin@example.com, name: Administrator, role: admin, balance: 500 }
  - { email: build@example.com, name: Build server, balance: 200 }
  - { email: desk@example.com, name: Support desk, balance: 200 }
  - { email: index@example.com, name: Search index, balance: 200 }
  - { email: member@example.com, name: Member, balance: 200 }
keys:
  - { name: laptop, user: admin@example.com, secret: ${demoSecrets.laptop}, group: coding, quota: 400, rpm: 60 }
  - { name: ci, user: build@example.com, team: platform, secret: ${demoSecrets.ci}, models: [gpt-5-mini, gpt-5], rpm: 120, max_concurrency: 8 }
  - { name: webui, user: desk@example.com, team: support, secret: ${demoSecrets.webui}, quota: 50 }
  - { name: search-index, user: index@example.com, secret: ${demoSecrets.search}, models: [text-embedding-3-large, gemini-2.5-flash], expires_at: '${inDays(4)}Z' }
  - { name: coding, user: member@example.com, team: platform, secret: ${demoSecrets.coding}, group: coding, expires_at: '${inDays(180)}Z' }
`;
