import type { z } from 'zod';
import { say } from '../words/index.ts';
import { databaseFailed, gatewayAnswered, linkLost, sessionOver } from './link.ts';
import type { Contract } from '../../../gateway/src/edge/console-api/contract/index.ts';

/** What a call of the gateway's contract returns. */
export type Result<Name extends keyof Contract> = z.output<Contract[Name]['response']>;
/** What a call accepts in its address. */
export type Query<Name extends keyof Contract> = z.input<Contract[Name]['query']>;
export type Body<Name extends keyof Contract> = z.input<Contract[Name]['body']>;

/** What a person may be allowed to do. */
export type Permission = Result<'readSession'>['permissions'][number];

export interface FieldProblem {
  readonly path: string;
  readonly message: string;
}

/** A refusal of the gateway, or the lack of any answer (`unreachable`). */
export class ApiFailure extends Error {
  readonly code: string;
  readonly status: number;
  readonly requestId: string | null;
  readonly fields: readonly FieldProblem[];
  /** Seconds. */
  readonly retryAfter: number | null;
  /** With `stale`: the object as it is now. */
  readonly object: unknown;

  constructor(
    code: string,
    message: string,
    more: {
      readonly status?: number;
      readonly requestId?: string | null;
      readonly fields?: readonly FieldProblem[];
      readonly retryAfter?: number | null;
      readonly object?: unknown;
    } = {},
  ) {
    super(message);
    this.name = 'ApiFailure';
    this.code = code;
    this.status = more.status ?? 0;
    this.requestId = more.requestId ?? null;
    this.fields = more.fields ?? [];
    this.retryAfter = more.retryAfter ?? null;
    this.object = more.object;
  }
}

const base = '/admin/v1';

/** Without a session these are answered as usual; to anything else it means that the session is over. */
const withoutSession = ['/auth/login', '/auth/invite', '/session'];

/** Reads. @param path as in the contract, with its parameters filled in */
export function read<Name extends keyof Contract>(
  path: string,
  query: Query<Name>,
  signal: AbortSignal,
): Promise<Result<Name>> {
  const text = searchText(query);
  return send<Result<Name>>(text === '' ? path : `${path}?${text}`, { signal });
}

/** Reads text for the configuration file. */
export function readYaml(path: string, signal: AbortSignal): Promise<string> {
  return send(`${path}?as=yaml`, { signal }, (text) => text);
}

/** What stands behind the `?` of an address. */
export function searchText(query: Readonly<Record<string, string | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, value);
  }
  return search.toString();
}

/** A name for a call that may be sent again, after a lost response, without doing its work twice. */
export function newCallName(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join(
    '',
  );
}

/**
 * Writes.
 * @param csrfToken of the session; null: there is none yet
 * @param headers `if-match` or `idempotency-key`
 */
export function write<Name extends keyof Contract>(
  method: Contract[Name]['method'],
  path: string,
  body: Body<Name>,
  csrfToken: string | null,
  headers: Readonly<Record<string, string>> = {},
): Promise<Result<Name>> {
  return send<Result<Name>>(path, {
    method,
    headers: {
      ...headers,
      'content-type': 'application/json',
      ...(csrfToken !== null && { 'x-sluice-csrf': csrfToken }),
    },
    body: JSON.stringify(body),
  });
}

async function send<Value>(
  path: string,
  init: RequestInit,
  understand: (text: string) => unknown = parse,
): Promise<Value> {
  let response: Response;
  try {
    response = await fetch(base + path, { ...init, credentials: 'same-origin' });
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    linkLost();
    throw new ApiFailure('unreachable', 'The gateway does not answer.');
  }
  gatewayAnswered();
  const text = await response.text();
  const understood = response.ok ? understand(text) : null;
  if (understood !== null) return understood as Value;
  if (response.status === 503) void databaseFailed();
  if (response.status === 401 && !withoutSession.includes(path)) sessionOver();
  throw failureOf(response, parse(text));
}

function failureOf(response: Response, parsed: object | null): ApiFailure {
  const { status, headers } = response;
  const requestId = headers.get('x-request-id');
  const wait = Number(headers.get('retry-after'));
  const { error } = (parsed ?? {}) as { readonly error?: Partial<ApiFailure> };
  const fields = (error?.fields ?? []).map(({ path, message }) => ({
    path,
    // A line of a pasted file begins with its number, and stays as `sluice check` has it.
    message: message.startsWith('expected ') ? plainText(message) : message,
  }));
  return new ApiFailure(error?.code ?? 'internal', plainText(error?.message ?? `HTTP ${status}`), {
    status,
    requestId,
    fields,
    retryAfter: wait > 0 ? wait : null,
    object: error?.object,
  });
}

/** The rules of the file say "expected a name, got nothing". @param text in their words */
const plainText = (text: string): string =>
  text.replaceAll(
    /expected (.+?), got (nothing|an empty string|"(?:[^"\\]|\\.)*"|\S+)/g,
    (_, expected: string, got: string) => {
      if (!/^(?:nothing|an empty string)$/.test(got))
        return say('states.instead', { expected, got });
      return expected === 'a list' ? say('states.choose') : say('states.enter', { expected });
    },
  );

function parse(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
