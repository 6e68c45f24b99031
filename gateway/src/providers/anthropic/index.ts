import type { Provider, UpstreamTarget } from '../provider.ts';
import { classifyAnthropic } from './classify.ts';

export { classifyAnthropic } from './classify.ts';

export function anthropicPath(target: UpstreamTarget): string {
  return target.operation === 'count-tokens' ? '/messages/count_tokens' : '/messages';
}

export function anthropicHeaders(secret: string | null): Readonly<Record<string, string>> {
  return secret === null ? {} : { 'x-api-key': secret };
}

export const anthropic = {
  name: 'anthropic',
  counters: ['messages'],
  path: anthropicPath,
  headers: anthropicHeaders,
  classify: classifyAnthropic,
} satisfies Provider;
