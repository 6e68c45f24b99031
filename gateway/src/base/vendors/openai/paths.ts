import type { OperationName } from '#canonical/index.ts';
import type { UpstreamTarget } from '../vendor.ts';

const behindResponses: Readonly<Partial<Record<OperationName, string>>> = {
  'count-tokens': '/input_tokens',
  compact: '/compact',
};

/** Paths of the OpenAI style API after its `/v1`. */
export function openAiPath(target: UpstreamTarget): string {
  switch (target.protocol) {
    case 'chat':
      return '/chat/completions';
    case 'responses':
      return `/responses${behindResponses[target.operation] ?? ''}`;
    case 'embeddings':
      return '/embeddings';
    case 'images':
      return target.isEdit === true ? '/images/edits' : '/images/generations';
    default:
      throw new TypeError(`the OpenAI style API does not speak ${target.protocol}`);
  }
}
