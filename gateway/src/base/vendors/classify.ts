import { threadDetails } from './anthropic/index.ts';
import { cureOf } from './cures.ts';
import {
  failureFields,
  type FailureFields,
  findFault,
  statusByWord,
  type FoundFault,
} from './find-fault.ts';
import type { Classification, UpstreamFailure } from './vendor.ts';

const overloadCoolDownSeconds = 5;
const rateLimitCoolDownSeconds = 10;
/** Upstreams have answered a day; a channel is worth another try earlier than that. */
const longestCoolDownSeconds = 15 * 60;

/**
 * What an error of an upstream means: what its words say (`FaultTable`), else what its status says. Errors look alike
 * across vendors, and gateways pass on each other's, so that this asks for no vendor.
 */
export function classifyFailure(failure: UpstreamFailure): Classification {
  const fields = failureFields(failure);
  const inside = failure.status === null || failure.status < 400;
  const status = inside ? statusByWord(fields.words) : failure.status;
  const wait = failure.retryAfter ?? retryDelay(failure.body);
  const details = threadDetails(failure.body);
  if (details !== null) {
    return { kind: 'client', error: 'upstream_rejected', isExplained: true, details };
  }
  const fault = findFault(fields, status, inside);
  if (fault !== null) return classifyFault(fault, status, wait, fields);
  return classifyStatus(status ?? 500, wait, fields);
}

/**
 * No client may take something out of use by what it writes. Refusals of a request quote it, and so do exceptions:
 * llama.cpp's 500 has the model's words (https://github.com/ggml-org/llama.cpp/issues/20761).
 */
const quoting: ReadonlySet<number | null> = new Set([null, 400, 422, 500]);

function classifyFault(
  { fault, isCertain, code }: FoundFault,
  status: number | null,
  wait: number | null,
  fields: FailureFields,
): Classification {
  const withBlame = (classification: Classification): Classification =>
    isCertain || !quoting.has(status) || classification.kind === 'client'
      ? classification
      : { kind: 'failover', as: classification.as, blame: status === 500 ? 'channel' : 'none' };
  switch (fault) {
    case 'account':
      return withBlame({ ...refusedCredential, ...(code !== undefined && { code }) });
    case 'quota':
      return withBlame(rateLimited(wait));
    case 'overloaded':
      return withBlame(overload(wait));
    case 'model_missing':
      return withBlame(missingModel);
    case 'context_overflow':
      return { kind: 'client', error: 'context_too_long' };
    case 'capability':
    case 'client':
      return { ...rejectionOf(fields), isExplained: true };
    default:
      return { kind: 'client', error: fault };
  }
}

/** The operator's credential or account is at fault: nothing that the client could fix. */
const refusedCredential = Object.freeze({
  kind: 'failover',
  as: 'abnormal',
  blame: 'credential',
} satisfies Classification);

const missingModel: Classification = Object.freeze({
  kind: 'failover',
  as: 'model-missing',
  blame: 'model',
});

/** Statuses and their meaning: RFC 9110 section 15; 529 is Anthropic's "overloaded". */
function classifyStatus(
  status: number,
  wait: number | null,
  fields: FailureFields,
): Classification {
  switch (status) {
    case 400:
    case 422:
      return rejectionOf(fields);
    case 413:
      return { kind: 'client', error: 'body_too_large' };
    case 401:
    case 402:
      return refusedCredential;
    // Permission, region, or a model this account may not use: another channel may.
    case 403:
      return { kind: 'failover', as: 'abnormal', blame: 'model' };
    case 404:
      return missingModel;
    case 408:
    case 409:
    case 425:
      return { kind: 'failover', as: 'abnormal', blame: 'none' };
    case 429:
      return rateLimited(wait);
    case 503:
    case 529:
      return overload(wait);
    default:
      return { kind: 'failover', as: 'abnormal', blame: 'channel' };
  }
}

type ClientFault = Extract<Classification, { kind: 'client' }>;

/** A field path is safe to name; the relay checks that the client's own request has it. */
function rejectionOf({ param, words, message }: FailureFields): ClientFault {
  const cure = cureOf([...words, message].join(' '));
  const withCure = cure === undefined ? {} : { cure };
  return /^[A-Za-z_][\w.[\]-]{0,80}$/.test(param)
    ? { kind: 'client', error: 'upstream_rejected_field', param, ...withCure }
    : { kind: 'client', error: 'upstream_rejected', ...withCure };
}

function rateLimited(wait: number | null): Classification {
  return {
    kind: 'failover',
    as: 'rate-limited',
    blame: 'quota',
    coolDownSeconds: boundedSeconds(wait ?? rateLimitCoolDownSeconds),
  };
}

function overload(wait: number | null): Classification {
  return {
    kind: 'failover',
    as: 'overloaded',
    blame: 'channel',
    coolDownSeconds: boundedSeconds(wait ?? overloadCoolDownSeconds),
  };
}

function boundedSeconds(seconds: number): number {
  return Math.min(Math.max(1, Math.ceil(seconds)), longestCoolDownSeconds);
}

/** Seconds of a `google.rpc.RetryInfo` detail, `{"retryDelay":"12s"}`. */
function retryDelay(body: unknown): number | null {
  if (body === null) return null;
  const text = JSON.stringify(body).slice(0, 20_000);
  const match = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(text);
  return match?.[1] === undefined ? null : Number(match[1]);
}
