/** Whose rules a model of the images endpoints has. Any other name has those of `demo-image`. */
export type Family = 'gpt-image' | 'dall-e-2' | 'dall-e-3' | 'demo';

export function familyOf(model: string): Family {
  if (model === 'dall-e-2' || model === 'dall-e-3') return model;
  return /^(?:gpt|chatgpt)-image/.test(model) ? 'gpt-image' : 'demo';
}

/** The models of Ark share a path with those of OpenAI in the simulator. */
export function isArkModel(model: string): boolean {
  return model.includes('seedream') || model.startsWith('demo-layers');
}

/** The newest model takes any size within limits, and has no transparent background. */
export function takesAnySize(model: string): boolean {
  return model.startsWith('gpt-image-2');
}
