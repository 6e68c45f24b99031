import type { Model } from '#catalogue/index.ts';

/** A model list entry that clients of OpenAI's and of Anthropic's API both parse. JSON text. */
export function encodeOpenaiModel(name: string, model: Model): string {
  const created = Math.floor(model.createdAt / 1000);
  return JSON.stringify({
    id: name,
    object: 'model',
    type: 'model',
    created,
    created_at: new Date(created * 1000).toISOString().replace('.000Z', 'Z'),
    owned_by: model.ownedBy,
    display_name: model.displayName,
    model_type: model.type,
    max_input_tokens: model.contextWindow,
    max_tokens: model.maxOutputTokens,
    // A model is listed as long as this gateway offers it; when its vendor ends it is for the operator to follow.
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    // Not `capabilities`, which is an object in newer lists of the Messages API.
    model_capabilities: [...model.capabilities].toSorted(),
  });
}
