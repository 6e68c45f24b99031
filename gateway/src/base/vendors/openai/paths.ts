import type { UpstreamTarget } from '../vendor.ts';

/** Paths of the OpenAI style API after its `/v1`. */
export function openAiPath(target: UpstreamTarget): string {
  switch (target.protocol) {
    case 'chat':
      return '/chat/completions';
    case 'responses':
      return target.operation === 'count-tokens' ? '/responses/input_tokens' : '/responses';
    case 'embeddings':
      return '/embeddings';
    case 'images':
      return target.isEdit === true ? '/images/edits' : '/images/generations';
    default:
      throw new TypeError(`the OpenAI style API does not speak ${target.protocol}`);
  }
}
