import type { Model } from './snapshot.ts';

/**
 * Whether the model has every price part that its type needs. Otherwise a request is refused before anything is sent,
 * because it could not be charged. The configuration contract defines the parts.
 */
export function isPriced(model: Model): boolean {
  const { price } = model;
  if (price === null) return false;
  const byTokens = price.input !== undefined && price.output !== undefined;
  switch (model.type) {
    case 'chat':
      return byTokens;
    case 'image':
      return byTokens || (price.imageTiers?.length ?? 0) > 0;
    case 'video':
      return (price.videoSecond === undefined) !== (price.videoTokens === undefined);
    case 'embedding':
      return price.input !== undefined;
  }
}
