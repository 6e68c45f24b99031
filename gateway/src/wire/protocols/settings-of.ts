import { noExtensions, type Extensions, type GenerationRequest } from '#canonical/index.ts';

/** The request without its conversation, tools and whatever else may be long: for protocols that repeat none of it. */
export function settingsOf(
  request: GenerationRequest,
  extensions: Extensions = noExtensions,
): Omit<GenerationRequest, 'turns'> {
  const { turns: _, ...settings } = request;
  return { ...settings, system: [], tools: [], toolChoice: null, format: null, extensions };
}
