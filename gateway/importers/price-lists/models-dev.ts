import { ExactNumber, isExactMapping, type ExactMapping } from './exact-json.ts';
import {
  listedCount,
  listedEmbeddingPrice,
  listedPrice,
  listedTier,
  type ListedParts,
  type Listing,
  type SkipReason,
} from './listed-model.ts';

/** `api.json` of models.dev: provider → `models` → `cost` in USD per million tokens, `limit`, `modalities`. */
export function readModelsDev(file: ExactMapping): Listing[] {
  return Object.entries(file).flatMap(([provider, entry]) => {
    const models = isExactMapping(entry) ? entry['models'] : null;
    if (!isExactMapping(models)) return [];
    return Object.entries(models).flatMap(([id, model]) => {
      if (!isExactMapping(model)) return [];
      const read = readModel(id, model);
      return [
        typeof read === 'string'
          ? { provider, skipped: { id, provider, reason: read } }
          : { provider, model: read },
      ];
    });
  });
}

function readModel(id: string, model: ExactMapping) {
  const type = typeOf(id, model);
  if (type === null) return 'neither text nor images' satisfies SkipReason;
  const { cost, limit } = model;
  if (!isExactMapping(cost)) return 'no price per token' satisfies SkipReason;
  const longer = cost['context_over_200k'];
  // One threshold is a named member; several are a list, whose members differ.
  if (cost['tiers'] !== undefined || (longer !== undefined && type !== 'chat')) {
    return 'other prices for long prompts' satisfies SkipReason;
  }
  if (type === 'embedding') return readEmbeddingModel(id, cost, limit);
  const { reasoning, output } = cost;
  if (
    reasoning instanceof ExactNumber &&
    output instanceof ExactNumber &&
    reasoning.decimal() !== output.decimal()
  ) {
    return 'reasoning has a price of its own' satisfies SkipReason;
  }
  const price = listedPrice(partsOf(cost, type), 0);
  if (typeof price === 'string') return price;
  const tier = isExactMapping(longer) ? listedTier(200_000, partsOf(longer, type), 0) : undefined;
  if (typeof tier === 'string') return tier;
  const limits = isExactMapping(limit) ? limit : {};
  return {
    id,
    type,
    contextWindow: listedCount(limits['context']),
    maxOutputTokens: listedCount(limits['output']),
    price: tier === undefined ? price : { ...price, tiers: [tier] },
  };
}

function partsOf(cost: ExactMapping, type: 'chat' | 'image'): ListedParts {
  return {
    input: cost['input'],
    cacheRead: cost['cache_read'],
    cacheWrite: cost['cache_write'],
    output: cost['output'],
    ...(type === 'chat' && { inputAudio: cost['input_audio'], outputAudio: cost['output_audio'] }),
  };
}

function readEmbeddingModel(id: string, cost: ExactMapping, limit: unknown) {
  const price = listedEmbeddingPrice({ input: cost['input'], output: cost['output'] }, 0);
  if (typeof price === 'string') return price;
  // Its limit of the output is the length of its vectors.
  const contextWindow = listedCount(isExactMapping(limit) ? limit['context'] : null);
  return { id, type: 'embedding' as const, contextWindow, maxOutputTokens: null, price };
}

/** The list gives embedding models as text in, text out: only their names tell. */
function typeOf(
  id: string,
  { family, modalities }: ExactMapping,
): 'chat' | 'image' | 'embedding' | null {
  if (/embed/i.test(typeof family === 'string' ? `${family} ${id}` : id)) return 'embedding';
  const output = isExactMapping(modalities) ? modalities['output'] : null;
  if (!Array.isArray(output) || output.includes('text')) return 'chat';
  return output.includes('image') ? 'image' : null;
}
