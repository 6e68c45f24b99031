import { protocolNames, type ProtocolName } from '#canonical/index.ts';
import type { ProviderName } from './config.ts';

export interface ProviderDefaults {
  /** Null: a channel of this provider must set it. A simulator channel without it runs as a child process. */
  readonly baseUrl: string | null;
  /** Appended to a base URL that has no path. */
  readonly versionPath: string;
  /** The protocols that the vendor really speaks. */
  readonly protocols: readonly ProtocolName[];
  /** The environment variable whose key offers a first channel when nothing is configured. */
  readonly environmentKey: string | null;
}

export const providerDefaults: Readonly<Record<ProviderName, ProviderDefaults>> = Object.freeze({
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    versionPath: '/v1',
    protocols: ['chat', 'responses', 'images', 'embeddings'],
    environmentKey: 'OPENAI_API_KEY',
  },
  'openai-compatible': {
    baseUrl: null,
    versionPath: '/v1',
    protocols: ['chat', 'embeddings'],
    environmentKey: null,
  },
  anthropic: {
    baseUrl: 'https://api.anthropic.com/v1',
    versionPath: '/v1',
    protocols: ['messages'],
    environmentKey: 'ANTHROPIC_API_KEY',
  },
  gemini: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    versionPath: '/v1beta',
    protocols: ['generate-content'],
    environmentKey: 'GEMINI_API_KEY',
  },
  dashscope: {
    baseUrl: 'https://dashscope.aliyuncs.com/api/v1',
    versionPath: '/api/v1',
    protocols: ['video-synthesis'],
    environmentKey: 'DASHSCOPE_API_KEY',
  },
  ark: {
    baseUrl: 'https://ark.cn-beijing.volces.com/api/v3',
    versionPath: '/api/v3',
    protocols: ['video-contents', 'images'],
    environmentKey: 'ARK_API_KEY',
  },
  simulator: { baseUrl: null, versionPath: '', protocols: protocolNames, environmentKey: null },
});

export const providerNames = Object.freeze(Object.keys(providerDefaults) as ProviderName[]);
