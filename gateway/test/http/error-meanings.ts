import type { ErrorName } from '#errors/index.ts';

/** When a client gets an error and what helps, in a few words. A new error of the catalogue needs a line here. */
export const errorMeanings: Readonly<Record<ErrorName, string>> = {
  invalid_body: 'The body is empty, not a JSON object, cut short, or badly compressed.',
  too_complex:
    'The body is nested too deep, holds too many values, or becomes too much of them in the upstream’s protocol. JSON inside strings counts as well. Or reading or converting the body exceeds the time or memory of [a thread](decisions/0015-large-bodies-in-threads.md). Costs nothing; the same request is always refused.',
  duplicate_key: 'A member that is read here stands there twice, or in two spellings.',
  invalid_value:
    'A field has a value that cannot be, or nothing of the kind exists at any upstream of the model. The message and `param` name it. With a strict key also: something would be lost in conversion.',
  missing_parameter: 'The protocol requires this field.',
  model_required: 'No model is named.',
  model_not_available:
    "No such model, no channel of the key's group serves it, or it has no text protocol. Also: every upstream says that it does not have it.",
  model_unpriced: 'The model has no price, so it could not be billed. For the operator to mend.',
  context_too_long:
    "The prompt is longer than the model's window. Coding agents recognise this text and compact.",
  content_policy: "The upstream's content filter refused.",
  upstream_rejected: 'The upstream answered 400 without naming a field that the client sent.',
  upstream_rejected_field: 'The upstream answered 400 and named a field that the client sent.',
  missing_key:
    'No key in `Authorization`, `x-api-key`, `x-goog-api-key` (or `?key=` below `/v1beta`).',
  invalid_key:
    'Unknown, malformed, expired, disabled or revoked key, a disabled user, or two different keys in one request.',
  insufficient_balance: 'Less than 0.01 USD is left, after what running requests hold.',
  user_quota_exceeded: 'What the user may spend in all is used up.',
  key_quota_exceeded: 'What the key may spend in all is used up.',
  ip_not_allowed: "The client's address is not on the key's list.",
  model_not_allowed: "The model is not on the key's list.",
  model_disabled: 'The model is switched off.',
  client_not_allowed: 'Every channel of the model takes other clients only, by their `User-Agent`.',
  not_found:
    'No such path; or `/ready` or `/metrics` for somebody who may not read it ([more](observability.md)).',
  not_found_hint: 'No such path, but one like it: the message names the right base URL.',
  model_not_found: '`GET` of a model that the key cannot use, or that there is none of.',
  task_not_found: 'No such video task. Video is not served yet.',
  previous_response_not_found:
    'The `previous_response_id` belongs to another owner, or is unknown where channels accept only known ones, or the upstream does not have it ([more](upstream-state.md)).',
  state_not_found: 'The same for other ids of what upstreams keep: items, files, containers, …',
  method_not_allowed: 'The path exists for the methods in the header `allow`.',
  body_too_slow: 'The body arrived more slowly than 1 KiB per second over 30 seconds.',
  body_too_large:
    'Larger than `server.body_limit` after decompression, more than a hundred times its compressed size, or too large for the upstream.',
  unsupported_content_type: 'Anything but `application/json`, or none.',
  unsupported_content_encoding: 'Anything but gzip, br, zstd and identity.',
  websocket_unsupported: 'Codex asks for a websocket and goes on with POST at once.',
  rate_limited:
    "The key's or the team's requests per minute, per hour or at the same time (`max_concurrency`, else `limits.key_concurrency`); or more than 600 counts and lists, or 600 refused requests, of the key in a minute ([more](decisions/0020-refusals-that-share-a-row.md)). Without `retry-after` where the limit is 0.",
  channels_rate_limited:
    'Every channel of the model is rate-limited by its upstream. `retry-after` is when the first one is free again.',
  team_daily_budget_exceeded: "The team's budget of today, in its time zone.",
  team_monthly_budget_exceeded: "The team's budget of this month.",
  team_total_budget_exceeded: "The team's budget in all.",
  member_budget_exceeded: "The member's share of the team's money.",
  internal_error: 'A fault of this program; its log has the request id.',
  unsupported_transfer_encoding: 'A `Transfer-Encoding` other than `chunked`.',
  upstream_abnormal:
    'Every attempt failed: 5xx, refused credentials, no connection, garbage, a time-out, or an answer of nothing.',
  unavailable:
    'Nothing can be recorded or looked up now (disk full, database away for a new key), attempts failed for different reasons, or the gateway stops.',
  overloaded:
    'This gateway has no place for more, no memory for the body, or too much to do. Nothing was asked of an upstream.',
  upstream_overloaded: 'Every channel of the model says that it is overloaded.',
};
