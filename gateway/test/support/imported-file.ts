import { bundledAliases, bundledModels } from '#catalogue/bundled.ts';
import { parseConfig, type Declared } from '#config/index.ts';

/**
 * A file that was made of another gateway's, as `sluice check` reads it, with all its variables set.
 * @throws ConfigError when check would refuse it.
 */
export function readImported(text: string, variables: readonly string[]): Declared {
  const environment = Object.fromEntries(
    variables.map((name) => [
      name,
      name === 'VLLM_URL' ? 'http://vllm:1/v1' : `sk-${name}-${'a1'.repeat(20)}`,
    ]),
  );
  const { declared } = parseConfig(text, {
    file: 'f.yaml',
    environment,
    bundledModels: bundledModels.map(({ id }) => id),
    bundledAliases: bundledAliases.keys(),
  });
  if (declared === null) throw new Error('nothing is declared');
  return declared;
}
