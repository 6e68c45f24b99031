import { isReferenceModel } from '#canonical/index.ts';
import type { Declared } from '#config/index.ts';

type Declarations = Pick<Declared, 'models' | 'keys' | 'teams'>;

/** A line for each valid setting that cannot be meant: it has no effect, or refuses everything. */
export function settingsInVain({ models, keys, teams }: Declarations): string[] {
  const streaming = models.filter(
    ({ capabilities }) =>
      capabilities.includes('streaming') && isReferenceModel(new Set(capabilities)),
  );
  const limited = [
    ...keys.map(({ name, rpm, rph, maxConcurrency: max_concurrency }) => ({
      what: `key '${name}'`,
      limits: { rpm, rph, max_concurrency },
    })),
    ...teams.map(({ name, rpm }) => ({ what: `team '${name}'`, limits: { rpm } })),
  ];
  return [
    ...models
      .filter(({ imageToolModel = null }) => imageToolModel !== null)
      .map(
        ({ id }) =>
          `model '${id}' has image_tool_model, which has no effect: only upstreams of Responses have the tool image_generation`,
      ),
    ...streaming.map(
      ({ id }) =>
        `model '${id}' declares streaming, but models with layers, and those with multi_reference and without edits, never stream: their requests with stream get 400`,
    ),
    ...limited.flatMap(({ what, limits }) =>
      Object.entries(limits)
        .filter(([, limit]) => limit === 0)
        .map(
          ([name]) =>
            `${what} has ${name}: 0, so every request is refused; leave it out for no limit`,
        ),
    ),
  ];
}
