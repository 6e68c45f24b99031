/** What a model of Ark can do; its name tells. */
export interface ModelRules {
  /** 5.0 Pro, 5.0 Flash and 5.5: layers and ten references; no streams, no sets. */
  readonly layers: boolean;
  readonly sets: boolean;
  readonly streams: boolean;
  readonly mostReferences: number;
  readonly mostLayers: number;
  readonly namedSizes: readonly string[];
  /** `seed` and `guidance_scale`: only the 3.0 models take them. */
  readonly seeds: boolean;
  /** Accepts a reference that is Base64 without the head of a data URI. */
  readonly bareReferences: boolean;
}

export function rulesOf(model: string): ModelRules {
  const demo = model.startsWith('demo-');
  const isPro = demo || /seedream-5-(?:0-(?:pro|flash)|5)/.test(model);
  const isOld = model.includes('seedream-3');
  return {
    layers: isPro,
    sets: !isPro && !isOld,
    streams: !isPro && !isOld,
    mostReferences: isOld ? 0 : isPro ? 10 : 14,
    mostLayers: model.includes('seedream-5-5') ? 99 : 16,
    namedSizes: isPro ? ['1K', '1.5K', '2K'] : ['1K', '2K', '3K', '4K'],
    seeds: isOld,
    bareReferences: demo,
  };
}
