import { roles as allRoles } from '../contract/permissions.ts';
import type { ProvenPerson } from '#administration/index.ts';
import type { Claims, OidcSettings } from './provider.ts';

/** Why somebody whom the provider has proved does not get in, by the file. */
export type ClaimsProblem = 'no-email' | 'email-not-verified' | 'other-domain';

/** What claims say about a person, or why they do not suffice. */
export function readClaims(
  claims: Claims,
  settings: Pick<OidcSettings, 'domains' | 'role' | 'roleClaim' | 'roleMap'>,
): ProvenPerson | ClaimsProblem {
  const { iss: issuer, sub: subject, email, email_verified: isVerified, name } = claims;
  if (typeof email !== 'string' || !/^[^\s@"<>]+@[^\s@"<>]+$/.test(email) || email.length > 254) {
    return 'no-email';
  }
  // Some send text in the place of a boolean.
  if (isVerified !== true && isVerified !== 'true') return 'email-not-verified';
  const address = email.toLowerCase();
  const domain = address.slice(address.lastIndexOf('@') + 1);
  if (settings.domains.length > 0 && !settings.domains.includes(domain)) return 'other-domain';
  return {
    issuer,
    subject,
    email: address,
    name: typeof name === 'string' ? name.trim() : null,
    role: roleOf(claims, settings),
  };
}

/**
 * The role that a person's groups give: the highest that one of them maps to, or else the usual one.
 * Null: roles are given in the console.
 */
function roleOf(
  claims: Claims,
  { role, roleClaim, roleMap }: Pick<OidcSettings, 'role' | 'roleClaim' | 'roleMap'>,
): ProvenPerson['role'] {
  if (roleClaim === null) return null;
  const groups = [claimAt(claims, roleClaim)].flat();
  const roles = groups.flatMap((group) =>
    typeof group === 'string' && Object.hasOwn(roleMap, group) ? [roleMap[group]] : [],
  );
  return allRoles.find((each) => roles.includes(each)) ?? role;
}

/** The claim of this name, or the one inside others that dots lead to: `realm_access.roles`. */
export function claimAt(claims: object, name: string): unknown {
  if (Object.hasOwn(claims, name)) return (claims as Readonly<Record<string, unknown>>)[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part))
      return undefined;
    value = (value as Readonly<Record<string, unknown>>)[part];
  }
  return value;
}
