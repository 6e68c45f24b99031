import { afterAll, beforeAll, expect, test } from 'vitest';
import { contract } from '#console-api/contract/index.ts';
import type { TestGateway } from '#test/support/gateway.ts';
import { signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';

const roles = ['admin', 'operator', 'billing', 'viewer', 'member'] as const;

const config = `
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat]
    models: [demo-chat]
users:
${roles.map((role) => `  - { email: ${role}@example.com, role: ${role} }`).join('\n')}
keys: []
`;

/** Routes that not everybody may use, and who may. */
const narrow: Readonly<Record<string, readonly string[]>> = {
  'GET /health': ['admin', 'operator', 'viewer'],
  'GET /channels': ['admin', 'operator', 'viewer'],
  'GET /channels/:id': ['admin', 'operator', 'viewer'],
  'GET /config': ['admin', 'operator', 'viewer'],
  'GET /config/export': ['admin', 'operator', 'viewer'],
  'POST /config/plan': ['admin', 'operator', 'viewer'],
  'GET /books': ['admin', 'billing', 'viewer'],
  'GET /books/entries': ['admin', 'billing', 'viewer'],
  'GET /books/entries/export': ['admin', 'billing', 'viewer'],
  'GET /reconcile': ['admin', 'billing', 'viewer'],
  'POST /reconcile': ['admin', 'billing'],
  'GET /forms/channel': ['admin', 'operator', 'viewer'],
  'GET /audit': ['admin', 'viewer'],
  'GET /audit/export': ['admin', 'viewer'],
  'POST /channels': ['admin', 'operator'],
  'POST /routing/explain': ['admin', 'operator', 'viewer'],
  'POST /channels/:id/reset': ['admin', 'operator'],
  'POST /channels/test': ['admin', 'operator'],
  'POST /channels/models': ['admin', 'operator'],
  'PATCH /channels/:id': ['admin', 'operator'],
  'POST /models': ['admin', 'operator'],
  'PATCH /models/:id': ['admin', 'operator'],
  'GET /aliases': ['admin', 'operator', 'billing', 'viewer'],
  'GET /aliases/:name': ['admin', 'operator', 'billing', 'viewer'],
  'PUT /aliases/:name': ['admin', 'operator'],
  'DELETE /aliases/:name': ['admin', 'operator'],
  'POST /prices/preview': ['admin', 'operator', 'billing', 'viewer'],
  'GET /forms/model': ['admin', 'operator', 'billing', 'viewer'],
  'GET /groups': ['admin', 'operator', 'billing', 'viewer'],
  'POST /groups': ['admin', 'operator'],
  'PATCH /groups/:name': ['admin', 'operator'],
  'POST /groups/:name/preview': ['admin', 'operator', 'billing', 'viewer'],
  'GET /users': ['admin', 'billing', 'viewer'],
  'GET /users/:id': ['admin', 'billing', 'viewer'],
  'POST /users': ['admin'],
  'PATCH /users/:id': ['admin'],
  'POST /users/:id/invite': ['admin'],
  'POST /users/:id/sign-out': ['admin'],
  'DELETE /users/:id/totp': ['admin'],
  'DELETE /users/:id/oidc': ['admin'],
  'GET /sign-in': ['admin', 'operator', 'viewer'],
  'POST /teams': ['admin'],
  'PATCH /teams/:id': ['admin'],
  'GET /admin-keys': ['admin'],
  'POST /admin-keys': ['admin'],
  'DELETE /admin-keys/:id': ['admin'],
  'GET /accounts/:kind/:id/entries': ['admin', 'billing', 'viewer'],
  'POST /accounts/:kind/:id/credits': ['admin', 'billing'],
};
/** Where a program with an admin key has nothing of its own to see or to change, and what its role has to be. */
const programs: Readonly<Record<string, readonly string[]>> = {
  ...narrow,
  'GET /keys': ['admin', 'viewer'],
  'GET /keys/:id': ['admin', 'viewer'],
  'POST /keys': ['admin'],
  'PATCH /keys/:id': ['admin'],
  'POST /keys/:id/rotate': ['admin'],
  'POST /keys/:id/revoke': ['admin'],
  'GET /teams': ['admin', 'billing', 'viewer'],
};

/** They need no session, or end it. */
const elsewhere = [
  'GET /auth/methods',
  'GET /auth/oidc/start',
  'GET /auth/oidc/callback',
  'POST /auth/login',
  'POST /auth/invite',
  'POST /auth/logout',
];

const routes = Object.values(contract).filter(
  ({ method, path }) => !elsewhere.includes(`${method} ${path}`),
);

let gateway: TestGateway;
const people = new Map<string, Person>();
/** The admin key of each role that has one. */
const adminKeys = new Map<string, string>();
beforeAll(async () => {
  gateway = await startWithPeople({ config });
  for (const role of roles) {
    people.set(role, await signInAs(gateway, role));
  }
  for (const role of roles.slice(0, -1)) {
    const response = await people.get('admin')!.send('POST', '/admin-keys', { name: role, role });
    adminKeys.set(role, ((await response.json()) as { readonly key: string }).key);
  }
}, 60_000);
afterAll(() => gateway.close());

test.each(routes.map(({ method, path }) => [method, path] as const))(
  'S-12 %s %s is for the roles that it is meant for, and for nobody without a session',
  async (method, path) => {
    const address = path.replace(':kind', 'user').replaceAll(/:\w+/g, 'nothing');
    const allowed = narrow[`${method} ${path}`] ?? roles;
    for (const [role, person] of people) {
      const response =
        method === 'GET' ? await person.get(address) : await person.send(method, address, {});
      await response.body?.cancel();
      // What else is wrong with the request is found out only after the role.
      expect([role, response.status === 403]).toEqual([role, !allowed.includes(role)]);
      expect([role, response.status < 500]).toEqual([role, true]);
    }
    const anonymous = await fetch(`${gateway.url}/admin/v1${address}`, { method });
    await anonymous.body?.cancel();
    expect(anonymous.status).toBe(401);
  },
);

test.each(routes.map((route) => [route.method, route.path, route] as const))(
  '%s %s is for the admin keys that it is meant for',
  async (method, path, { callers }) => {
    const address = path.replace(':kind', 'user').replaceAll(/:\w+/g, 'nothing');
    const allowed = callers === 'people' ? [] : (programs[`${method} ${path}`] ?? roles);
    const body = path === '/keys' ? '{"name":"made"}' : '{}';
    for (const [role, adminKey] of adminKeys) {
      const response = await fetch(`${gateway.url}/admin/v1${address}`, {
        method,
        headers: {
          authorization: `Bearer ${adminKey}`,
          'content-type': 'application/json',
          'if-match': '"1"',
        },
        ...(method !== 'GET' && { body }),
      });
      await response.body?.cancel();
      expect([role, response.status === 403]).toEqual([role, !allowed.includes(role)]);
      expect([role, response.status < 500]).toEqual([role, true]);
    }
  },
);
