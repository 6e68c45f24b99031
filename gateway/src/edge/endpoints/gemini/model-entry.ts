import type { Model } from '#catalogue/index.ts';

/** A generate-content model list entry as JSON text; null for models that no method of the protocol can call. */
export function encodeGeminiModel(name: string, model: Model): string | null {
  if (model.type === 'video' || model.type === 'embedding') return null;
  return JSON.stringify({
    name: `models/${name}`,
    baseModelId: name,
    version: '001',
    displayName: model.displayName,
    description: model.displayName,
    inputTokenLimit: model.contextWindow ?? undefined,
    outputTokenLimit: model.maxOutputTokens ?? undefined,
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
  });
}
