import { expect, test } from 'vitest';
import { claimAt, readClaims } from './claims.ts';

const claims = { iss: 'https://a.b', sub: '1', email: 'Ada@Example.com', email_verified: true };
const settings = {
  domains: [],
  role: 'viewer',
  roleClaim: 'groups',
  roleMap: { ops: 'operator', root: 'admin', constructor: 'billing' },
} as const;

test.each([
  [['ops'], 'operator'],
  [['ops', 'root'], 'admin'],
  ['root', 'admin'],
  [['others'], 'viewer'],
  [['toString', 7, null], 'viewer'],
  [undefined, 'viewer'],
])('groups %j give the role %s', (groups, role) => {
  expect(readClaims({ ...claims, groups }, settings)).toMatchObject({
    email: 'ada@example.com',
    role,
  });
});

test.each([
  [{ email_verified: 'true' }, { email: 'ada@example.com' }],
  [{ email_verified: 'false' }, 'email-not-verified'],
  [{ email: 'ada@notexample.com' }, 'other-domain'],
  [{ email: 'ada@sub.example.com' }, 'other-domain'],
  [{ email: undefined }, 'no-email'],
])('%j of somebody at example.com is read as %j', (more, expected) => {
  const read = readClaims({ ...claims, ...more }, { ...settings, domains: ['example.com'] });
  if (typeof expected === 'string') expect(read).toBe(expected);
  else expect(read).toMatchObject(expected);
});

test('without a claim of groups, roles are given elsewhere', () => {
  expect(readClaims(claims, { ...settings, roleClaim: null })).toMatchObject({ role: null });
});

test('a claim is found by its whole name first, then along its dots', () => {
  const found = { 'https://a.b/groups': 1, realm_access: { roles: [2] }, text: 'x' };
  expect(claimAt(found, 'https://a.b/groups')).toBe(1);
  expect(claimAt(found, 'realm_access.roles')).toEqual([2]);
  expect(claimAt(found, 'text.length')).toBe(undefined);
  expect(claimAt(found, '__proto__.constructor')).toBe(undefined);
});
