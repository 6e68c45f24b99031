import type { ErrorName } from '#errors/index.ts';

/** When a client gets an error and what helps, in a few words. A new error of the catalogue needs a line here. */
export const errorMeanings: Readonly<Record<ErrorName, string>> = {
  invalid_body: 'The body is empty, not a JSON object, cut short, or badly compressed.',
  too_complex:
    'The body is nested too deeply or has too many values, also in strings that hold JSON and after conversion to the upstream’s protocol. Or reading or converting the body exceeds the time or memory of [a thread](decisions/0015-large-bodies-in-threads.md). It costs nothing; the same request is always refused.',
  duplicate_key: 'A member that the gateway reads appears twice, or in two spellings.',
  invalid_value:
    'A field has an impossible value, or no upstream of the model supports it. The message and `param` name it. With a strict key also: the conversion would lose something.',
  missing_parameter: 'The protocol requires this field.',
  model_required: 'The request names no model.',
  model_not_available:
    "There is no such model, no channel of the key's group serves it, or it has no text protocol. Also: every upstream reports that it does not have it. If a name that this key may use is close, the message ends in `: did you mean '…'?`.",
  model_unpriced:
    'The model has no price, or none for layers or for more than one reference image, so the request could not be billed. The operator must set one.',
  context_too_long:
    "The prompt is longer than the model's window. Coding agents recognise this text and compact.",
  content_policy: "The upstream's content filter refused the request.",
  upstream_rejected: 'The upstream returned 400 without naming a field that the client sent.',
  upstream_rejected_field: 'The upstream returned 400 and named a field that the client sent.',
  missing_key:
    'No key in `Authorization`, `x-api-key`, `x-goog-api-key` (or `?key=` below `/v1beta`).',
  invalid_key:
    'Unknown, malformed, expired, disabled or revoked key, a disabled user, or two different keys in one request.',
  insufficient_balance: 'Less than 0.01 USD is left after the holds of running requests.',
  user_quota_exceeded: "The user's quota is used up.",
  key_quota_exceeded: "The key's quota is used up.",
  ip_not_allowed: "The client's address is not on the key's list.",
  team_disabled: 'An administrator has disabled the team that the key acts for.',
  model_not_allowed: "The model is not on the key's list.",
  model_disabled: 'The model is switched off.',
  group_disabled: "The key's group is switched off, or no longer in the file.",
  client_not_allowed:
    'Every channel of the model accepts only other clients, by their `User-Agent`.',
  not_found:
    'There is no such path; or a caller may not read `/ready` or `/metrics` ([more](observability.md)).',
  not_found_hint: 'There is no such path, but a similar one: the message names the right base URL.',
  model_not_found: '`GET` of a model that the key cannot use, or that does not exist.',
  task_not_found: 'The key’s user has no such [video task](video.md).',
  previous_response_not_found:
    'The `previous_response_id` belongs to another owner, or is unknown and the channels accept only known ids, or the upstream does not have it ([more](upstream-state.md)).',
  state_not_found: 'The same for other ids of upstream state: items, files, containers, …',
  method_not_allowed: 'The path exists, but only for the methods in the header `allow`.',
  body_too_slow: 'The body arrived more slowly than 1 KiB per second over 30 seconds.',
  body_too_large:
    'Larger than `server.body_limit` after decompression, more than a hundred times its compressed size, or too large for the upstream.',
  unsupported_content_type: 'The content type is missing or not `application/json`.',
  unsupported_content_encoding: 'The encoding is not gzip, br, zstd or identity.',
  websocket_unsupported: 'Codex requests a websocket, and after this error uses POST at once.',
  rate_limited:
    "The key's or the team's requests per minute, per hour or at the same time (`max_concurrency`, else `limits.key_concurrency`) are used up; or the key made more than 600 counts and lists, or 600 refused requests, in a minute ([more](decisions/0020-refusals-that-share-a-row.md)). Without `retry-after` where the limit is 0.",
  channels_rate_limited:
    'Every channel of the model is rate-limited by its upstream. `retry-after` is when the first one is free again.',
  team_daily_budget_exceeded: "The team's budget for today, in its time zone, is used up.",
  team_monthly_budget_exceeded: "The team's budget for this month is used up.",
  team_total_budget_exceeded: "The team's total budget is used up.",
  member_budget_exceeded: "The member's budget of the team's money is used up.",
  internal_error: 'A defect in the gateway; the log has the request id.',
  unsupported_transfer_encoding: 'The `Transfer-Encoding` is not `chunked`.',
  upstream_abnormal:
    'Every attempt failed: 5xx, no connection, an unreadable or empty response, a time-out, or some of them and refused credentials.',
  upstream_credential_refused:
    'The upstreams refuse the credentials of all channels of the model, or their accounts are empty. The request was right, so the status is 502; clients need not send it again until the operator has acted.',
  pictures_unchargeable:
    'More than ten responses of this model to this key could not be charged within a minute ([more](images.md#what-is-charged)). The model is not asked for the rest of it; `retry-after` is how long that is. Other models are served.',
  unavailable:
    'The gateway cannot record the request, look up its key or lease its money (disk full, database unreachable, another node silent), attempts failed for different reasons, or the gateway is stopping.',
  outdated:
    '[A newer version](several-nodes.md#restart-upgrade-backup) has changed the database, so this node must not charge any more.',
  overloaded:
    'The gateway has reached `limits.in_flight`, has no memory for the body, or is overloaded. No upstream was called.',
  upstream_overloaded: 'Every channel of the model reports that it is overloaded.',
};
