import {
  anthropicHeaders,
  anthropicPath,
  anthropicSurcharges,
  classifyAnthropic,
} from '../anthropic/index.ts';
import { classifyGemini, geminiHeaders, geminiPath, geminiSurcharges } from '../gemini/index.ts';
import { bearer, classifyOpenAi, openAiPath, openAiSurcharges } from '../openai/index.ts';
import { failureFields } from '../failure-fields.ts';
import type { Classification, Provider, UpstreamFailure, UpstreamTarget } from '../provider.ts';
import { joined } from '../surcharges.ts';

/**
 * The built-in simulator: every protocol under one origin, each below its vendor's own version path. So the
 * version is part of the path here and not of the base URL.
 */
export const simulator = {
  name: 'simulator',
  counters: ['messages', 'generate-content', 'responses'],
  path(target: UpstreamTarget): string {
    switch (target.protocol) {
      case 'messages':
        return `/v1${anthropicPath(target)}`;
      case 'generate-content':
        return `/v1beta${geminiPath(target)}`;
      default:
        return `/v1${openAiPath(target)}`;
    }
  },
  headers(secret, protocol) {
    // It accepts any credential and wants one, as the vendors do; a channel need not name it.
    const credential = secret ?? 'simulator';
    switch (protocol) {
      case 'messages':
        return anthropicHeaders(credential);
      case 'generate-content':
        return geminiHeaders(credential);
      default:
        return bearer(credential);
    }
  },
  classify: classifySimulated,
  surcharges: joined(openAiSurcharges, anthropicSurcharges, geminiSurcharges),
} satisfies Provider;

/** Each protocol's errors look like its vendor's, so each vendor's reading applies. */
function classifySimulated(failure: UpstreamFailure): Classification {
  const body = failure.body as { type?: unknown } | null;
  if (body !== null && typeof body === 'object' && body.type === 'error') {
    return classifyAnthropic(failure);
  }
  return failureFields(failure).status === '' ? classifyOpenAi(failure) : classifyGemini(failure);
}
