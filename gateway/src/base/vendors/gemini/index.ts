import type { SurchargeFacts } from '../surcharges.ts';
import { plainTraits, type UpstreamTraits } from '../traits.ts';
import type { UpstreamTarget, Vendor } from '../vendor.ts';

/** The model is a path segment here, so it is encoded; a catalogue name with `/` stays one segment. */
export function geminiPath(target: UpstreamTarget): string {
  const model = encodeURIComponent(target.model);
  if (target.operation === 'count-tokens') return `/models/${model}:countTokens`;
  // Streams are always asked for as server-sent events; the client's framing is the relay's matter.
  return target.stream
    ? `/models/${model}:streamGenerateContent?alt=sse`
    : `/models/${model}:generateContent`;
}

export function geminiHeaders(secret: string | null): Readonly<Record<string, string>> {
  return secret === null ? {} : { 'x-goog-api-key': secret };
}

export const geminiSurcharges: SurchargeFacts = { dear: ['service_tier.priority'], betas: [] };

/** The cloud's own host for these models does not know the member. */
function geminiTraits(_model: string, baseUrl: string): UpstreamTraits {
  return { ...plainTraits, toolTraces: !baseUrl.includes('aiplatform.googleapis.com') };
}

export const gemini = {
  name: 'gemini',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  versionPath: '/v1beta',
  protocols: ['generate-content'],
  environmentKey: 'GEMINI_API_KEY',
  ownedBy: 'google',
  telemetryName: 'gcp.gemini',
  countsTokensIn: ['generate-content'],
  path: geminiPath,
  headers: geminiHeaders,
  surcharges: geminiSurcharges,
  traitsOf: geminiTraits,
  // "Unsupported MIME type: image/jpg", "Base64 decoding failed" of a data URL, and protobuf's JSON takes no lone surrogates
  // (src/google/protobuf/json/internal/lexer.cc).
  // "contents.parts must not be empty"
  repairs: ['b12', 'b36', 'b41'],
} satisfies Vendor;
