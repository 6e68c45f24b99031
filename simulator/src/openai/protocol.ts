import { isObject } from '../json.ts';
import { bearerToken, isInvalidCredential } from '../http/credential.ts';
import type { Protocol } from '../http/call.ts';
import { jsonReply, type WireEvent } from '../http/reply.ts';
import { Rejection } from '../rejection.ts';
import { strictFault } from './validate-strict-schema.ts';

/** The credential and the error body, which Chat Completions and Responses share. */
export const openai = {
  authenticate(headers) {
    const token = bearerToken(headers);
    if (token === '') {
      throw new Rejection(
        401,
        "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
      );
    }
    if (isInvalidCredential(token)) {
      throw new Rejection(401, 'Incorrect API key provided: inv***.', { code: 'invalid_api_key' });
    }
  },
  reject: (rejection) =>
    jsonReply(rejection.status, { error: describeError(rejection) }, requestIdHeader),
  errorEvent: (rejection): WireEvent => ({
    data: JSON.stringify({ error: describeError(rejection) }),
  }),
  isDone: (event) => event.data === '[DONE]',
} satisfies Protocol;

export const requestIdHeader = { 'x-request-id': 'req_simulator' };

export function describeError({ status, message, detail }: Rejection) {
  return {
    message,
    type: detail.type ?? errorType(status),
    param: detail.param ?? null,
    code: detail.code ?? errorCode(status),
  };
}

function errorType(status: number): string {
  if (status === 429) return 'rate_limit_error';
  if (status >= 500) return 'server_error';
  return 'invalid_request_error';
}

export function errorCode(status: number): string | null {
  if (status === 429) return 'rate_limit_exceeded';
  if (status === 503 || status === 529) return 'server_is_overloaded';
  return null;
}

/** The body as an object. @throws Rejection in the vendor's words */
export function requireObject(body: unknown) {
  if (!isObject(body)) {
    throw new Rejection(
      400,
      'We could not parse the JSON body of your request. The OpenAI API expects a JSON payload.',
    );
  }
  return body;
}

export function missing(param: string): Rejection {
  return new Rejection(400, `Missing required parameter: '${param}'.`, {
    param,
    code: 'missing_required_parameter',
  });
}

export function wrongType(param: string, expected: string, value: unknown): Rejection {
  return new Rejection(
    400,
    `Invalid type for '${param}': expected ${expected}, but got ${describe(value)} instead.`,
    { param, code: 'invalid_type' },
  );
}

export function wrongValue(param: string, value: unknown, allowed: readonly string[]): Rejection {
  const list = allowed.map((entry) => `'${entry}'`);
  const last = list.pop() ?? '';
  const values = list.length > 0 ? `${list.join(', ')}, and ${last}` : last;
  return new Rejection(400, `Invalid value: '${String(value)}'. Supported values are: ${values}.`, {
    param,
    code: 'invalid_value',
  });
}

/** Checks an optional number. Absent and null pass. */
export function checkNumber(
  param: string,
  value: unknown,
  kind: 'decimal' | 'integer',
  least: number,
  most = Number.POSITIVE_INFINITY,
): void {
  if (value === undefined || value === null) return;
  if (typeof value !== 'number' || (kind === 'integer' && !Number.isInteger(value))) {
    throw wrongType(param, kind === 'integer' ? 'an integer' : 'a decimal', value);
  }
  if (value < least) {
    throw new Rejection(
      400,
      `Invalid '${param}': ${kind} below minimum value. Expected a value >= ${least}, but got ${value} instead.`,
      { param, code: `${kind}_below_min_value` },
    );
  }
  if (value > most) {
    throw new Rejection(
      400,
      `Invalid '${param}': ${kind} above maximum value. Expected a value <= ${most}, but got ${value} instead.`,
      { param, code: `${kind}_above_max_value` },
    );
  }
}

/** Checks a function tool, in either protocol's place. */
export function checkFunction(param: string, tool: Record<string, unknown>): void {
  const { name, parameters } = tool;
  if (name === undefined) throw missing(`${param}.name`);
  if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
    throw new Rejection(
      400,
      `Invalid '${param}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      { param: `${param}.name`, code: 'invalid_value' },
    );
  }
  if (parameters === undefined || parameters === null) return;
  const type = isObject(parameters) ? parameters['type'] : 'None';
  if (type !== 'object' && !(isObject(parameters) && Object.keys(parameters).length === 0)) {
    throw new Rejection(
      400,
      `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"', got 'type: ${JSON.stringify(type ?? 'None')}'.`,
      { param: `${param}.parameters`, code: 'invalid_function_parameters' },
    );
  }
  checkStrict(tool['strict'], parameters, `function '${name}'`, {
    param: `${param}.parameters`,
    code: 'invalid_function_parameters',
  });
}

/** A strict schema has to be one that the vendor can hold a model to. @throws Rejection */
export function checkStrict(
  strict: unknown,
  schema: unknown,
  what: string,
  names: { readonly param: string; readonly code?: string },
): void {
  const fault = strict === true ? strictFault(schema) : null;
  if (fault !== null) throw new Rejection(400, `Invalid schema for ${what}: ${fault}`, names);
}

export function checkModelExists(model: string): void {
  if (!model.startsWith('missing-')) return;
  throw new Rejection(
    404,
    `The model \`${model}\` does not exist or you do not have access to it.`,
    { code: 'model_not_found' },
  );
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  const names: Record<string, string> = {
    number: Number.isInteger(value) ? 'an integer' : 'a decimal',
    object: 'an object',
    string: 'a string',
    boolean: 'a boolean',
  };
  return names[typeof value] ?? 'nothing';
}
