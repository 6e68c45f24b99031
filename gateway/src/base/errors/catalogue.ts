/**
 * Every error that a client can get. Nothing else in the gateway invents a status, a type or a text: code throws `new
 * GatewayError('<name>')`, and each protocol renders the entry in its own shape.
 *
 * People read `message` verbatim in their tools. Clients recognise errors by the beginning of the message, so the text
 * before the first hole is a contract. `{model}`-like holes are filled from `GatewayError.values`. `type` and `code`
 * are those of chat (`code` null if chat has none); the other protocols map from `type` and `status`.
 */
export interface CatalogueEntry {
  readonly status: number;
  readonly type:
    | 'invalid_request_error'
    | 'authentication_error'
    | 'insufficient_balance'
    | 'permission_error'
    | 'not_found_error'
    | 'rate_limit_error'
    | 'api_error'
    | 'overloaded_error';
  readonly code: string | null;
  readonly message: string;
  /** Seconds of `Retry-After` if the thrower sets none. Every 503 has it. */
  readonly retryAfter?: number;
}

const define = <Name extends string>(entries: Record<Name, CatalogueEntry>) =>
  Object.freeze(entries);

export const catalogue = define({
  // 400
  invalid_body: invalid('invalid_json', 'invalid request body'),
  too_complex: invalid('invalid_value', 'invalid request body: too complex'),
  duplicate_key: invalid('invalid_value', "invalid request body: duplicate key '{key}'"),
  invalid_value: invalid('invalid_value', '{reason}'),
  missing_parameter: invalid('missing_required_parameter', '{param} is required'),
  model_required: invalid('missing_required_parameter', 'model is required'),
  model_not_available: invalid(
    'model_not_available',
    "model '{model}' is not available, please use a different model{hint}",
  ),
  model_unpriced: invalid(
    'model_not_available',
    "model '{model}' is not available, please use a different model: no price is set{part}",
  ),
  context_too_long: invalid(
    'context_length_exceeded',
    'prompt is too long (capability_rejected: prompt_too_long)',
  ),
  content_policy: invalid('content_policy_violation', 'content_policy_violation'),
  upstream_rejected: invalid(
    'invalid_value',
    'the model rejected the request as invalid, please check its parameters',
  ),
  upstream_rejected_field: invalid(
    'invalid_value',
    "the model rejected the request: please check '{param}'",
  ),
  // 401
  missing_key: entry(401, 'authentication_error', 'invalid_api_key', 'missing api key'),
  invalid_key: entry(401, 'authentication_error', 'invalid_api_key', 'invalid api key'),
  // 402
  insufficient_balance: quota(
    402,
    'insufficient_balance',
    'insufficient balance: the {payer} of this API key has too little left; the operator of this gateway can top it up',
  ),
  user_quota_exceeded: quota(
    402,
    'insufficient_balance',
    "quota limit exceeded: this user's quota is used up; the operator of this gateway can raise it",
  ),
  key_quota_exceeded: quota(
    402,
    'insufficient_balance',
    "key quota limit exceeded: this key's quota is used up; the person who set it can raise it",
  ),
  // 403
  ip_not_allowed: entry(
    403,
    'permission_error',
    null,
    'ip address is not allowed for this API key',
  ),
  team_disabled: entry(
    403,
    'permission_error',
    null,
    'the team of this API key is disabled; the operator of this gateway can enable it',
  ),
  model_not_allowed: entry(
    403,
    'permission_error',
    'model_not_allowed',
    "model '{model}' is not allowed for this API key",
  ),
  model_disabled: entry(
    403,
    'permission_error',
    'model_not_allowed',
    "model '{model}' is not available",
  ),
  group_disabled: entry(
    403,
    'permission_error',
    null,
    'the group of this API key is disabled; the operator of this gateway can enable it',
  ),
  client_not_allowed: entry(
    403,
    'permission_error',
    null,
    'this channel requires a specific client, please use one that it accepts',
  ),
  // 404, 405, 408, 413, 415, 426
  not_found: entry(404, 'not_found_error', null, 'not found'),
  not_found_hint: entry(404, 'not_found_error', null, 'not found: {hint}'),
  model_not_found: entry(404, 'not_found_error', 'model_not_found', "model '{model}' not found"),
  task_not_found: entry(404, 'not_found_error', null, 'task not found'),
  previous_response_not_found: entry(
    404,
    'not_found_error',
    'previous_response_not_found',
    'previous response not found, please send the whole conversation instead of previous_response_id',
  ),
  state_not_found: entry(
    404,
    'not_found_error',
    'not_found',
    '{param} not found: it does not exist, or this API key may not use it',
  ),
  method_not_allowed: entry(405, 'api_error', null, 'method not allowed'),
  body_too_slow: entry(
    408,
    'invalid_request_error',
    null,
    'request timeout: the body arrived too slowly',
  ),
  body_too_large: entry(413, 'invalid_request_error', null, 'request body too large'),
  unsupported_content_type: entry(415, 'invalid_request_error', null, 'unsupported content type'),
  unsupported_content_encoding: entry(
    415,
    'invalid_request_error',
    null,
    'unsupported content encoding',
  ),
  websocket_unsupported: entry(
    426,
    'invalid_request_error',
    null,
    'websocket is not supported, please use POST',
  ),
  // 429
  rate_limited: entry(429, 'rate_limit_error', 'rate_limit_exceeded', 'rate limit exceeded'),
  channels_rate_limited: entry(
    429,
    'rate_limit_error',
    'rate_limit_exceeded',
    'quota exhausted, please retry later',
  ),
  team_daily_budget_exceeded: quota(429, 'rate_limit_error', 'team daily budget exceeded'),
  team_monthly_budget_exceeded: quota(429, 'rate_limit_error', 'team monthly budget exceeded'),
  team_total_budget_exceeded: quota(429, 'rate_limit_error', 'team total budget exceeded'),
  member_budget_exceeded: quota(429, 'rate_limit_error', 'member budget exceeded'),
  // 5xx
  internal_error: entry(500, 'api_error', 'internal_error', 'internal error'),
  unsupported_transfer_encoding: entry(
    501,
    'invalid_request_error',
    null,
    'unsupported transfer encoding',
  ),
  upstream_abnormal: entry(502, 'api_error', 'upstream_error', 'upstream response abnormal'),
  // The same beginning: it is the same kind of failure, and nothing is wrong with the request.
  upstream_credential_refused: entry(
    502,
    'api_error',
    'upstream_error',
    "upstream response abnormal: the provider refuses the gateway's own credential or account, " +
      'and only the operator of this gateway can fix that',
  ),
  pictures_unchargeable: entry(
    502,
    'api_error',
    'upstream_error',
    'upstream response abnormal: pictures of this model come without the size or usage that they are priced by, ' +
      'and only the operator of this gateway can fix that',
  ),
  // The journal and a failed database are retried every second.
  unavailable: {
    ...entry(
      503,
      'api_error',
      'service_unavailable',
      'service temporarily unavailable, please try again later',
    ),
    retryAfter: 2,
  },
  // The same beginning: to the client it is the same.
  outdated: {
    ...entry(
      503,
      'api_error',
      'service_unavailable',
      'service temporarily unavailable, please try again later: this node of the gateway is older than its database, ' +
        'and another one can serve the request',
    ),
    retryAfter: 2,
  },
  overloaded: {
    ...entry(
      503,
      'api_error',
      'server_is_overloaded',
      'service temporarily unavailable, please try again later',
    ),
    retryAfter: 1,
  },
  upstream_overloaded: entry(
    529,
    'overloaded_error',
    'server_is_overloaded',
    'service overloaded, please retry later',
  ),
});

export type ErrorName = keyof typeof catalogue;

function entry(
  status: number,
  type: CatalogueEntry['type'],
  code: string | null,
  message: string,
): CatalogueEntry {
  return Object.freeze({ status, type, code, message });
}

function invalid(code: string, message: string): CatalogueEntry {
  return entry(400, 'invalid_request_error', code, message);
}

function quota(status: 402 | 429, type: CatalogueEntry['type'], message: string): CatalogueEntry {
  return entry(status, type, 'insufficient_quota', message);
}
