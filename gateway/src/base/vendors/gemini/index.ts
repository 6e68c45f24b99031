import type { SurchargeFacts, Vendor, VendorPaths, FaultTable } from '../vendor.ts';
import { plainTraits, type UpstreamTraits } from '../traits.ts';

/**
 * The names of google.rpc.Code, as they stand in `error.status`, and the reasons of ErrorInfo in `error.details`:
 * https://github.com/googleapis/googleapis/blob/master/google/api/error_reason.proto. Gemini's and Vertex AI's texts:
 * https://ai.google.dev/gemini-api/docs/troubleshooting.
 */
export const geminiFaults: FaultTable = {
  words: {
    INVALID_ARGUMENT: 400,
    FAILED_PRECONDITION: 400,
    OUT_OF_RANGE: 400,
    UNAUTHENTICATED: 401,
    PERMISSION_DENIED: 403,
    NOT_FOUND: 404,
    RESOURCE_EXHAUSTED: 429,
    INTERNAL: 500,
    UNAVAILABLE: 503,
    DEADLINE_EXCEEDED: 504,

    // With 400 as the status.
    API_KEY_INVALID: 'account',
    API_KEY_SERVICE_BLOCKED: 'account',
    BILLING_DISABLED: 'account',
    CONSUMER_INVALID: 'account',
    CONSUMER_SUSPENDED: 'account',
    USER_PROJECT_DENIED: 'account',
  },
  texts: [
    // "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."
    [/input token count/i, 'context_overflow'],
    // "Request payload size exceeds the limit: 20971520 bytes."
    [/request payload size exceeds the limit/i, 'body_too_large'],
    // "Function calling is not enabled for models/m"; "Developer instruction …"; "Audio input modality …"
    [/is not enabled for models\//i, 'capability'],
    // With 403: "Your API key was reported as leaked. Please use another API key."
    [/api key was reported as leaked/i, 'account'],
    // "API key not valid. Please pass a valid API key."; "API key expired. Please renew the API key."
    [/^api key (not valid|expired)/i, 'account'],
    [/user location is not supported|free tier is not available/i, 'account'],
    // With 429: "Your prepayment credits are depleted."; "Your project has exceeded its monthly spending cap."
    [/prepayment credits are depleted|exceeded its (monthly )?spend(ing)? cap/i, 'account'],
    // Vertex AI, with 400 and 403: "This API method requires billing to be enabled."
    [/requires billing to be enabled/i, 'account'],
    // Vertex AI, with FAILED_PRECONDITION: "Project `1` is not allowed to use Publisher Model `…`"; "… is not servable in
    // region us-east5."
    [/not allowed to use publisher model|is not servable in region/i, 'model_missing'],
  ],
};

/**
 * The model is one path segment; a catalogue name with `/` stays one. Streams are always asked for as server-sent events; the
 * client's framing is the relay's matter.
 */
export const geminiPaths = {
  'generate-content': {
    generate: '/models/{model}:generateContent',
    stream: '/models/{model}:streamGenerateContent?alt=sse',
    'count-tokens': '/models/{model}:countTokens',
  },
} satisfies VendorPaths;

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
  keyBeginnings: ['AIza'],
  ownedBy: 'google',
  telemetryName: 'gcp.gemini',
  countsTokensIn: ['generate-content'],
  paths: geminiPaths,
  headers: geminiHeaders,
  surcharges: geminiSurcharges,
  traitsOf: geminiTraits,
  // "Unsupported MIME type: image/jpg", "Base64 decoding failed" of a data URL, and protobuf's JSON takes no lone surrogates
  // (src/google/protobuf/json/internal/lexer.cc).
  // "contents.parts must not be empty"
  repairs: ['b12', 'b36', 'b41'],
} satisfies Vendor;
