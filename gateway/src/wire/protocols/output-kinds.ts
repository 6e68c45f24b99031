/** What the output may consist of besides text. */
export interface OutputKinds {
  readonly image: boolean;
  readonly audio: boolean;
}

/**
 * What a response may consist of by the modalities that the request lists. Without a list, models that can draw may, and
 * none speaks.
 * @param speaks the request says how its response is to sound
 */
export function readOutputKinds(modalities: unknown, speaks: boolean): OutputKinds {
  if (!Array.isArray(modalities) || modalities.length === 0) return { image: true, audio: speaks };
  const asked = new Set(modalities.map((name) => String(name).toLowerCase()));
  return { image: asked.has('image'), audio: asked.has('audio') };
}
