import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { contract } from '#console-api/contract/index.ts';
import type { TestGateway } from '#test/support/gateway.ts';
import { signInAs, startWithPeople } from './people.ts';

interface Document {
  readonly paths: Record<string, Record<string, { readonly 'x-permission': string }>>;
}

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startWithPeople();
});
afterAll(() => gateway.close());

test('the document is OpenAPI, has every route with its permission, and needs a session', async () => {
  expect((await fetch(`${gateway.url}/admin/v1/openapi.json`)).status).toBe(401);
  const member = await signInAs(gateway, 'member');
  const text = await (await member.get('/openapi.json')).text();
  const { valid, errors } = await new Validator().validate(
    JSON.parse(text) as Record<string, unknown>,
  );
  expect([valid, errors]).toEqual([true, undefined]);

  const { paths } = JSON.parse(text) as Document;
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => `${method.toUpperCase()} ${path} ${operation['x-permission']}`,
    ),
  );
  const served = Object.values(contract).map(
    ({ method, path, permission }) =>
      `${method} /admin/v1${path.replaceAll(/:(\w+)/g, '{$1}')} ${permission}`,
  );
  expect(documented.toSorted()).toEqual(served.toSorted());
});

test('a refusal has declared members only, and is neither kept nor taken for something else', async () => {
  const admin = await signInAs(gateway, 'admin');
  const document = (await (await admin.get('/openapi.json')).json()) as {
    readonly components: {
      readonly schemas: { readonly Error: z.core.JSONSchema.JSONSchema };
    };
  };
  const error = z.fromJSONSchema(document.components.schemas.Error);
  const { data } = (await (await admin.get('/keys?q=member')).json()) as {
    readonly data: readonly { readonly id: string }[];
  };
  const made = await admin.send('POST', '/keys', { name: 'made' });
  expect(made.status).toBe(201);
  const key = (await made.json()) as { readonly id: string };
  const stale = { 'if-match': '"0"' };
  const refusals = [
    await admin.send('PATCH', `/keys/${key.id}`, { quota: '1' }, stale),
    await admin.send('PATCH', `/keys/${data[0]!.id}`, {}, stale),
    await admin.get('/nothing'),
    await fetch(`${gateway.url}/admin/v1/auth/login`, {
      method: 'POST',
      body: 'text',
      headers: { origin: gateway.url },
    }),
    ...(await Promise.all(
      ['/admin/v1//session', '/admin/v1/session/'].map((path) => fetch(gateway.url + path)),
    )),
  ];
  expect(refusals.map(({ status }) => status)).toEqual([412, 409, 404, 415, 404, 404]);
  for (const { headers } of refusals) {
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-sluice-hint')).toBe(null);
  }
  for (const refusal of refusals) {
    expect(error.safeParse(await refusal.json())).toMatchObject({ success: true });
  }
});

test.each(Object.entries(contract))('the example of %s is a response', (_name, route) => {
  expect(route.response.safeParse(route.example)).toMatchObject({ success: true });
});
