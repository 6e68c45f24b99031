import type { VendorFacts } from '../vendor.ts';

/** A public server that speaks OpenAI's protocol. */
export type KnownServer = Pick<VendorFacts, 'name' | 'environmentKey'> & {
  readonly baseUrl: string;
};

const server = (name: string, baseUrl: string, environmentKey: string): KnownServer =>
  Object.freeze({ name, baseUrl, environmentKey });

/**
 * Servers of which only the address matters. A server with a quirk, or with errors that mean something else, gets a folder
 * of its own instead of a line here.
 */
export const plainServers: readonly KnownServer[] = Object.freeze([
  server('fireworks', 'https://api.fireworks.ai/inference/v1', 'FIREWORKS_API_KEY'),
  server('nvidia', 'https://integrate.api.nvidia.com/v1', 'NVIDIA_NIM_API_KEY'),
  server('openrouter', 'https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY'),
  server('together', 'https://api.together.xyz/v1', 'TOGETHERAI_API_KEY'),
]);
