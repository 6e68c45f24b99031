import type { Loss, TextProtocolName } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { convert, readWire } from '../../support/convert.ts';
import type { ClientFeatures, Feature } from './feature.ts';

/** What became of a request: the body that the upstream would get and what was lost, or why there is none. */
export type Converted =
  | { readonly body: string; readonly losses: readonly Loss[] }
  | { readonly refusal: string; readonly param: string };

/** A model of each kind, as current as the tests, that can do everything but run tools itself. */
const upstreams: Readonly<Record<TextProtocolName, { provider: string; model: string }>> = {
  chat: { provider: 'openai-compatible', model: 'llama-4' },
  responses: { provider: 'openai', model: 'gpt-5.1' },
  messages: { provider: 'anthropic', model: 'claude-opus-4-6' },
  'generate-content': { provider: 'gemini', model: 'gemini-3-pro' },
};

/**
 * Runs one request of a client through the real converter.
 * @param served absent: the table's model
 */
export async function convertRequest(
  client: TextProtocolName,
  upstream: TextProtocolName,
  json: Readonly<Record<string, unknown>>,
  served = upstreams[upstream],
): Promise<Converted> {
  const named = client === 'generate-content' ? json : { model: 'm', ...json };
  const target = { ...served, protocol: upstream, maxOutputTokens: 32_000 };
  try {
    const request = readWire(client, named);
    const { body, losses } = await convert({ client, request, target });
    return { body: String(body), losses };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { refusal: error.message, param: error.param ?? '' };
  }
}

/** What becomes of one feature between one client and one upstream. */
export interface Outcome {
  readonly feature: Feature;
  readonly how: 'carried' | 'approximated' | 'dropped' | 'refused' | 'ignored' | 'lost in silence';
  /** Losses that the request has and the same request without the feature has not. */
  readonly losses: readonly Loss[];
  readonly param: string;
}

/**
 * Compares the request that has the feature with the one that has not, so that a feature which changes nothing and
 * is not reported either cannot pass for carried.
 */
export async function outcomeOf(
  { client, plain }: ClientFeatures,
  feature: Feature,
  upstream: TextProtocolName,
): Promise<Outcome> {
  const without = await convertRequest(client, upstream, { ...plain, ...feature.without });
  const found = await convertRequest(client, upstream, { ...plain, ...feature.body });
  if ('refusal' in without) throw new Error(`refused without it: ${without.refusal}`);
  if ('refusal' in found) return { feature, how: 'refused', losses: [], param: found.param };
  const losses = found.losses.filter(
    ({ what }) => !without.losses.some((other) => other.what === what),
  );
  return { feature, how: howOf(feature, losses, found.body !== without.body), losses, param: '' };
}

function howOf({ harmless }: Feature, [loss]: readonly Loss[], isSeen: boolean): Outcome['how'] {
  if (loss !== undefined) return loss.how;
  if (isSeen) return 'carried';
  return harmless ? 'ignored' : 'lost in silence';
}
