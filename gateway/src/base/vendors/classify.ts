import { cureOf } from './cures.ts';
import type { FailureFields } from './failure-fields.ts';
import type { Classification, UpstreamFailure } from './vendor.ts';

const overloadCoolDownSeconds = 5;
const rateLimitCoolDownSeconds = 10;
/** Upstreams have answered a day; a channel is worth another try earlier than that. */
const longestCoolDownSeconds = 15 * 60;

/**
 * What a status means when the vendor's body says nothing more precise.
 * Statuses and their meaning: RFC 9110 section 15; 529 is Anthropic's "overloaded".
 */
export function classifyStatus(
  status: number,
  retryAfter: number | null,
  fields: FailureFields,
): Classification {
  switch (status) {
    case 400:
    case 422:
      return rejected(fields);
    case 413:
      return { kind: 'client', error: 'body_too_large' };
    case 401:
    case 402:
      return refusedCredential();
    // Permission, region, or a model this account may not use: another channel may.
    case 403:
      return { kind: 'failover', as: 'abnormal', blame: 'model' };
    case 404:
      return { kind: 'failover', as: 'model-missing', blame: 'model' };
    case 408:
    case 409:
    case 425:
      return { kind: 'failover', as: 'abnormal', blame: 'none' };
    case 429:
      return rateLimited(retryAfter);
    case 503:
    case 529:
      return overloaded(retryAfter);
    default:
      return { kind: 'failover', as: 'abnormal', blame: 'channel' };
  }
}

/** Codes, types and texts by which vendors and servers report a prompt beyond the model's window. */
const contextOverflow: readonly RegExp[] = [
  // OpenAI, Groq, DeepSeek, Cerebras; GitHub Models.
  /context_length_exceeded|too_many_prompt_tokens|maximum context length|context window/i,
  // Anthropic, Fireworks, Ollama.
  /prompt (is )?too long|exceed(s|ed)? (the )?(model's )?(max(imum)? )?context/i,
  // Gemini; Model Studio; Bedrock.
  /input token count|range of input length|input is too long for requested model/i,
  // llama.cpp: server-context.cpp, `exceed_context_size_error`.
  /exceed_context_size_error|exceeds the available context size/i,
  // SGLang (managers/tokenizer_manager.py) and Together; vLLM (v1/engine/input_processor.py).
  /longer than the (model's context|maximum model) length/i,
  // Text Generation Inference (router/src/validation.rs).
  /`inputs` (tokens \+ `max_new_tokens` )?must (be|have)/i,
  // LM Studio: "the number of tokens to keep from the initial prompt is greater than the context length".
  /(greater than|loaded with) (the )?context length|tokens when (the )?context (the )?overflows/i,
  // Kimi: "Your request exceeded model token limit: 262144". xAI: "This model's maximum prompt length is …".
  /exceeded model token limit|maximum prompt length/i,
  // GLM: code 1261. Cohere: "too many tokens: total number of tokens in the prompt cannot exceed …".
  /prompt exceeds max length|tokens in the prompt cannot exceed/i,
  // LiteLLM wraps what it got.
  /ContextWindowExceeded/i,
];

/**
 * Texts by which vendors say with 400 that the operator's account is at fault. A text may quote what the client wrote, so
 * that it takes nothing out of use.
 */
const accountFault: readonly RegExp[] = [
  // Anthropic: "You have reached your specified API usage limits."; "This organization has been disabled."
  /reached your specified (api |workspace )?(api )?usage limits|organization has been disabled/i,
  // OpenAI, with the code `unsupported_value` or `model_not_found`.
  /organization must be verified/i,
  // Gemini, with FAILED_PRECONDITION (https://ai.google.dev/gemini-api/docs/troubleshooting).
  /user location is not supported|free tier is not available/i,
  // OpenAI, Model Studio and others.
  /account is (not active|deactivated|suspended|in arrears)|account is in good standing/i,
  /billing hard limit|not available in your (country|region)/i,
];

const saysOneOf = (text: string, words: readonly RegExp[]): boolean =>
  words.some((each) => each.test(text));

/** Codes and texts of content moderation across vendors. */
const contentPolicy =
  /content_policy|content_filter|moderation_blocked|data_?inspection_?failed|sensitive_?content|responsible_?ai_?policy/i;

/** A 400 in the client's request, one of its two kinds that clients can recover from, or a fault of the account. */
export function rejected(fields: FailureFields): Classification {
  const words = `${fields.code} ${fields.type} ${fields.message}`;
  if (saysOneOf(words, contextOverflow)) return { kind: 'client', error: 'context_too_long' };
  if (saysOneOf(fields.message, accountFault)) {
    return { kind: 'failover', as: 'abnormal', blame: 'none' };
  }
  if (contentPolicy.test(words)) return { kind: 'client', error: 'content_policy' };
  const cure = cureOf(words);
  const cured = cure === undefined ? {} : { cure };
  // A field path is safe to name; the relay checks that the client's own request has it.
  if (/^[A-Za-z_][\w.[\]-]{0,80}$/.test(fields.param)) {
    return { kind: 'client', error: 'upstream_rejected_field', param: fields.param, ...cured };
  }
  return { kind: 'client', error: 'upstream_rejected', ...cured };
}

export function rateLimited(retryAfter: number | null): Classification {
  return {
    kind: 'failover',
    as: 'rate-limited',
    blame: 'quota',
    coolDownSeconds: bounded(retryAfter ?? rateLimitCoolDownSeconds),
  };
}

export function overloaded(retryAfter: number | null): Classification {
  return {
    kind: 'failover',
    as: 'overloaded',
    blame: 'channel',
    coolDownSeconds: bounded(retryAfter ?? overloadCoolDownSeconds),
  };
}

/** The operator's credential or account is at fault: nothing that the client could fix. */
export function refusedCredential(): Classification {
  return { kind: 'failover', as: 'abnormal', blame: 'credential' };
}

/** The status to judge by: the HTTP one, or inside a stream the one the event's type stands for. */
export function statusOf(
  failure: UpstreamFailure,
  fields: FailureFields,
  byType: Readonly<Record<string, number>>,
): number {
  if (failure.status !== null && failure.status >= 400) return failure.status;
  const named = byType[fields.code] ?? byType[fields.type] ?? byType[fields.status];
  if (named !== undefined) return named;
  // Google puts the status into `code`, Azure into `status`.
  const numeric = [fields.code, fields.status].map(Number);
  const numbered = numeric.find((status) => status >= 400 && status <= 599);
  if (numbered !== undefined) return numbered;
  // Some servers have nothing but words for it.
  return saysOneOf(`${fields.type} ${fields.message}`, contextOverflow) ? 400 : 500;
}

function bounded(seconds: number): number {
  return Math.min(Math.max(1, Math.ceil(seconds)), longestCoolDownSeconds);
}
