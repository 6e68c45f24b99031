import type { DeclaredChannel, DeclaredModel } from '#config/index.ts';
import { matchesPattern } from '#config/pattern.ts';

type PricedModel = Pick<DeclaredModel, 'id' | 'type' | 'enabled' | 'capabilities' | 'price'>;
type ServingChannel = Pick<DeclaredChannel, 'provider' | 'protocols' | 'models' | 'enabled'>;

/**
 * A line for each priced model that OpenAI serves in Responses, where it draws with a tool of its own: no price has a
 * part for those tokens, so they are charged 0.
 */
export function unpricedPictures(
  models: readonly PricedModel[],
  channels: readonly ServingChannel[],
  bundled: ReadonlyMap<string, readonly string[]>,
): string[] {
  const drawing = channels.filter(
    ({ provider, protocols, enabled }) =>
      enabled && provider === 'openai' && protocols.includes('responses'),
  );
  return models.flatMap(({ id, type, enabled, capabilities, price }) => {
    if (type !== 'chat' || !enabled || price === null) return [];
    const can = capabilities.length > 0 ? capabilities : bundled.get(id);
    if (can?.includes('hosted_tools') !== true) return [];
    const isServed = drawing.some(({ models: served }) =>
      served.some(({ name }) => matchesPattern(name, id)),
    );
    if (!isServed) return [];
    return [
      `model '${id}' can draw with its provider's tool image_generation, whose tokens no price has: they are charged 0`,
    ];
  });
}
