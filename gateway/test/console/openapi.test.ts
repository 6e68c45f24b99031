import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { contract } from '#console-api/contract/index.ts';
import type { TestGateway } from '#test/support/gateway.ts';
import { password, startWithPeople } from './people.ts';
import { signIn } from './person.ts';

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
  const member = await signIn(gateway.url, 'member@example.com', password);
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

test.each(Object.entries(contract))('the example of %s is a response', (_name, route) => {
  expect(route.response.safeParse(route.example)).toMatchObject({ success: true });
});
