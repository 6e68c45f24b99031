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

/** Texts by which vendors report a prompt beyond the model's window; there is no common code. */
const contextOverflow =
  /context_length_exceeded|too_many_prompt_tokens|prompt (is )?too long|exceed(s|ed)? (the )?(model's )?(max(imum)? )?context|maximum context length|input token count|context window|range of input length/i;

/** Codes and texts of content moderation across vendors. */
const contentPolicy =
  /content_policy|content_filter|moderation_blocked|data_?inspection_?failed|sensitive_?content|responsible_?ai_?policy/i;

/** A 400 in the client's request, or one of its two kinds that clients can recover from. */
export function rejected(fields: FailureFields): Classification {
  const words = `${fields.code} ${fields.type} ${fields.message}`;
  if (contextOverflow.test(words)) return { kind: 'client', error: 'context_too_long' };
  if (contentPolicy.test(words)) return { kind: 'client', error: 'content_policy' };
  // A field path is safe to name; the relay checks that the client's own request has it.
  if (/^[A-Za-z_][\w.[\]-]{0,80}$/.test(fields.param)) {
    return { kind: 'client', error: 'upstream_rejected_field', param: fields.param };
  }
  return { kind: 'client', error: 'upstream_rejected' };
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
  return numeric.find((status) => status >= 400 && status <= 599) ?? 500;
}

function bounded(seconds: number): number {
  return Math.min(Math.max(1, Math.ceil(seconds)), longestCoolDownSeconds);
}
