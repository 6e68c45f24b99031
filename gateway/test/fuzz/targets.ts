import type { FuzzTarget } from './target.ts';
import { responseTargets } from './targets/upstream-responses.ts';
import { embeddingsTargets } from './targets/embeddings.ts';
import { fileTargets } from './targets/files.ts';
import { imageTargets } from './targets/images.ts';
import { jsonTargets } from './targets/json.ts';
import { pieceTargets } from './targets/pieces-of-requests.ts';
import { priceTargets } from './targets/prices.ts';
import { requestTargets } from './targets/requests.ts';

/** Everything that is given what strangers wrote. */
export const fuzzTargets: readonly FuzzTarget[] = [
  ...jsonTargets,
  ...pieceTargets,
  ...requestTargets,
  ...priceTargets,
  ...responseTargets,
  ...embeddingsTargets,
  ...imageTargets,
  ...fileTargets,
];

/** The folder of its found cases. */
export function folderOf({ name }: Pick<FuzzTarget, 'name'>): string {
  return name.replaceAll(/\W+/g, '-');
}
