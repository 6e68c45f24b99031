import { noExtensions, type Extensions, type GenerationRequest } from '#canonical/index.ts';

/** The request without its long parts (conversation, tools …), for protocols whose responses do not repeat them. */
export function settingsOf(
  request: GenerationRequest,
  extensions: Extensions = noExtensions,
): Omit<GenerationRequest, 'turns'> {
  const { turns: _, ...settings } = request;
  return { ...settings, system: [], tools: [], toolChoice: null, format: null, extensions };
}
