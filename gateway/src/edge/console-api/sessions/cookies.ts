import type { FastifyRequest } from 'fastify';
import { sessionRules } from '#identity/index.ts';

/** With the prefix, browsers refuse it over plain http, for another path, and from a sibling domain. */
const secureName = '__Host-sluice';
const plainName = 'sluice_session';
const knownName = 'sluice_known';
/** Seconds: how long a browser counts as known after its last sign-in. */
const knownAge = 90 * 86_400;

/** The secret of a session in the browser's cookies; null: there is none. */
export function sessionCookie(request: FastifyRequest, isSecure: boolean): string | null {
  return cookieOf(request, isSecure ? secureName : plainName);
}

/** What the browser got at an earlier sign-in; null: nothing. */
export const knownCookie = (request: FastifyRequest) => cookieOf(request, knownName);

/** @param secret null: ends the cookie */
export function setSessionCookie(secret: string | null, isSecure: boolean): string {
  const age = secret === null ? 0 : sessionRules.longest / 1_000;
  return cookie(isSecure ? secureName : plainName, secret ?? '', age, isSecure);
}

export const setKnownCookie = (value: string, isSecure: boolean) =>
  cookie(knownName, value, knownAge, isSecure);

interface WayBackRules {
  /** Of the sign-in: each has a cookie of its own, so that two tabs can sign in at once. */
  readonly state: string;
  readonly isSecure: boolean;
}

/** Browsers take a cookie with the prefix over https only. */
const wayBackName = ({ state, isSecure }: WayBackRules) =>
  `${isSecure ? '__Secure-' : ''}sluice_oidc_${state.slice(0, 8).replace(/[^\w-]/g, '')}`;

/** What a browser brings back from the provider where it signed in; null: nothing. */
export const wayBackCookie = (request: FastifyRequest, rules: WayBackRules) =>
  cookieOf(request, wayBackName(rules), 4_000);

/**
 * `Lax`, as the provider's page leads back here.
 * @param value null: ends the cookie
 */
export function setWayBackCookie(
  value: string | null,
  rules: WayBackRules & { readonly path: string; /** In seconds. */ readonly age: number },
): string {
  const flags = `Path=${rules.path}; Max-Age=${value === null ? 0 : rules.age}; HttpOnly; SameSite=Lax`;
  return `${wayBackName(rules)}=${value ?? ''}; ${flags}${rules.isSecure ? '; Secure' : ''}`;
}

function cookie(name: string, value: string, age: number, isSecure: boolean): string {
  const flags = `Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict`;
  return `${name}=${value}; ${flags}${isSecure ? '; Secure' : ''}`;
}

function cookieOf({ raw }: FastifyRequest, name: string, longest = 200): string | null {
  for (const part of (raw.headers.cookie ?? '').split(';')) {
    const text = part.trim();
    if (!text.startsWith(`${name}=`)) continue;
    const value = text.slice(name.length + 1);
    return value.length <= longest && /^[\w.-]+$/.test(value) ? value : null;
  }
  return null;
}
