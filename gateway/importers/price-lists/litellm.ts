import type { PromptTier } from '#config/index.ts';
import { ExactNumber, isExactMapping, type ExactMapping } from './exact-json.ts';
import { litellmParts, perTokenToMillion } from './litellm-costs.ts';
import { listedSurcharges } from './litellm-surcharges.ts';
import {
  listedCount,
  listedEmbeddingPrice,
  listedPrice,
  listedTier,
  type ListedParts,
  type Listing,
  type SkipReason,
} from './listed-model.ts';

/** Keys of the file that are not models. */
const noModels = new Set(['sample_spec', 'fallback_generalizations']);

const types = new Map<unknown, 'chat' | 'image' | 'embedding'>([
  ['chat', 'chat'],
  ['completion', 'chat'],
  ['responses', 'chat'],
  ['image_generation', 'image'],
  ['image_edit', 'image'],
  ['embedding', 'embedding'],
]);

/**
 * `model_prices_and_context_window.json` of LiteLLM: model → costs in USD per token, limits, provider. A provider
 * prefix (`gemini/…`) is not part of the model's name.
 */
export function readLitellm(file: ExactMapping): Listing[] {
  return Object.entries(file).flatMap(([name, entry]) => {
    if (noModels.has(name) || !isExactMapping(entry)) return [];
    const namedProvider = entry['litellm_provider'];
    const provider = typeof namedProvider === 'string' ? namedProvider : '';
    const id = name.startsWith(`${provider}/`) ? name.slice(provider.length + 1) : name;
    const model = readEntry(id, entry);
    return [
      typeof model === 'string'
        ? { provider, skipped: { id, provider, reason: model } }
        : { provider, model },
    ];
  });
}

function readEntry(id: string, entry: ExactMapping) {
  const type = types.get(entry['mode']);
  if (type === undefined) return 'neither text nor images' satisfies SkipReason;
  const thresholds = thresholdsOf(entry);
  // Batches and faster or slower service are separate offers; a longer prompt is not.
  if (entry['tiered_pricing'] !== undefined || (thresholds.length > 0 && type !== 'chat')) {
    return 'other prices for long prompts' satisfies SkipReason;
  }
  if (type === 'embedding') return readEmbeddingModel(id, entry);
  const output = entry['output_cost_per_token'];
  if (differs(entry['output_cost_per_reasoning_token'], output)) {
    return 'reasoning has a price of its own' satisfies SkipReason;
  }
  const price = listedPrice(
    type === 'image' ? imageParts(entry) : litellmParts(entry),
    perTokenToMillion,
  );
  if (typeof price === 'string') return price;
  const tiers: PromptTier[] = [];
  for (const [above, suffix] of thresholds) {
    const tier = listedTier(above, litellmParts(entry, suffix), perTokenToMillion);
    if (typeof tier === 'string') return tier;
    if (tier !== undefined) tiers.push(tier);
  }
  return {
    id,
    type,
    contextWindow: listedCount(entry['max_input_tokens']),
    maxOutputTokens: listedCount(entry['max_output_tokens']),
    price:
      type === 'chat'
        ? { ...price, ...(tiers.length > 0 && { tiers }), ...listedSurcharges(entry) }
        : price,
  };
}

/** The prompt lengths above which an entry has other costs, ascending, and how the names of those costs end. */
function thresholdsOf(entry: ExactMapping): (readonly [above: number, suffix: string])[] {
  const pricesByTier = new Map<number, string>();
  for (const key of Object.keys(entry)) {
    const match = /_above_(\d{1,6})(k?)_tokens$/.exec(key);
    if (match === null) continue;
    const above = Number(match[1]) * (match[2] === 'k' ? 1_000 : 1);
    if (above > 0) pricesByTier.set(above, match[0]);
  }
  return Array.from(pricesByTier).toSorted(([a], [b]) => a - b);
}

/** An image model has no sound, and what it makes are images. */
function imageParts(entry: ExactMapping): ListedParts {
  const { inputAudio: _, cacheReadAudio: __, outputAudio: ___, ...parts } = litellmParts(entry);
  return { ...parts, output: parts.outputImage ?? parts.output };
}

function readEmbeddingModel(id: string, entry: ExactMapping) {
  // An image or a second of sound has a price of its own there, which a price per token cannot say.
  if (Object.keys(entry).some((key) => /^input_cost_per_(?!token(?:$|_))/.test(key))) {
    return 'no price per token' satisfies SkipReason;
  }
  const price = listedEmbeddingPrice(
    { input: entry['input_cost_per_token'], output: entry['output_cost_per_token'] },
    perTokenToMillion,
  );
  if (typeof price === 'string') return price;
  const contextWindow = listedCount(entry['max_input_tokens']);
  return { id, type: 'embedding' as const, contextWindow, maxOutputTokens: null, price };
}

function differs(part: unknown, whole: unknown): boolean {
  if (!(part instanceof ExactNumber)) return false;
  return !(whole instanceof ExactNumber) || part.decimal() !== whole.decimal();
}
