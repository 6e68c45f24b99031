import { afterAll, beforeAll, expect, test } from 'vitest';
import { contract } from '#console-api/contract/index.ts';
import type { TestGateway } from '#test/support/gateway.ts';
import { calls, type Call } from './calls.ts';
import { signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';

/* What the API's document declares, sent as it must not be: each call is refused, in the API's words. */

let gateway: TestGateway;
let admin: Person;
beforeAll(async () => {
  gateway = await startWithPeople();
  admin = await signInAs(gateway, 'admin');
});
afterAll(() => gateway.close());

const long = 'x'.repeat(10_000);

async function refusal({ method, address }: Call, query: string, body: unknown) {
  const path = address + query;
  const headers = { 'if-match': '"1"' };
  const response =
    method === 'GET' ? await admin.get(path) : await admin.send(method, path, body, headers);
  const text = await response.text();
  const { error } = JSON.parse(text) as { error?: { code: string; fields?: { path: string }[] } };
  return { status: response.status, code: error?.code, paths: error?.fields?.map((f) => f.path) };
}

test('the document names every call', () => {
  expect(calls).toHaveLength(Object.keys(contract).length);
  expect(calls.flatMap(({ queries }) => queries).length).toBeGreaterThan(50);
  expect(calls.flatMap(({ fields }) => fields).length).toBeGreaterThan(20);
});

const named = (list: readonly Call[]) => list.map((call) => [call.name, call] as const);
const writes = calls.filter(({ method }) => method !== 'GET');

/** Providers send parameters of their own there, which nobody reads. */
const unread = 'GET /admin/v1/auth/oidc/callback';
const strict = calls.filter(({ name }) => name !== unread);

test.each(named(strict))('%s refuses parameters that it does not know', async (_name, call) => {
  expect(await refusal(call, '?unknown=1', {})).toMatchObject({ status: 400, code: 'invalid' });
});

test.each(named(calls.filter(({ queries }) => queries.length > 0)))(
  '%s refuses parameters twice, and far too long ones',
  async (_name, call) => {
    for (const query of call.queries) {
      const twice = await refusal(call, `?${query}=1&${query}=2`, {});
      expect([query, twice.status]).toEqual([query, 400]);
      expect(twice.paths).toContain(query);
      const far = await refusal(call, `?${query}=${long}`, {});
      expect([query, far.status, far.code]).toEqual([query, 400, 'invalid']);
    }
  },
);

test.each(named(writes))('S-11 %s refuses fields that it does not know', async (_name, call) => {
  const { status, paths: fields } = await refusal(call, '', { unknown: 1 });
  expect([status, fields]).toEqual([400, expect.arrayContaining(['unknown'])]);
});

test.each(named(writes.filter(({ fields }) => fields.length > 0)))(
  '%s refuses fields of another type or length',
  async (_name, call) => {
    for (const field of call.fields) {
      for (const value of [{ a: 1 }, [[1]]]) {
        const { status, paths: fields } = await refusal(call, '', { [field]: value });
        expect([field, status]).toEqual([field, 400]);
        expect(fields).toContainEqual(expect.stringMatching(new RegExp(`^${field}`)));
      }
      // Where the object is looked up first, there is none; tests of channels are ten a minute.
      for (const value of [long, 'half a character: \ud800']) {
        const { status } = await refusal(call, '', { [field]: value });
        expect([field, value, [400, 404, 429].includes(status)]).toEqual([field, value, true]);
      }
    }
  },
);

test.each(named(writes))('%s refuses ten megabytes', async (_name, call) => {
  const body = { name: 'x'.repeat(10_000_000) };
  expect(await refusal(call, '', body)).toMatchObject({ status: 413, code: 'too_large' });
});

test.each(named(calls.filter(({ queries }) => queries.includes('from'))))(
  '%s refuses a range that ends before it begins',
  async (_name, call) => {
    const required = {
      '/usage/sums': '&by=day',
      '/usage/export': '&format=csv',
      '/audit/export': '&format=csv',
    };
    const rest = required[call.address as keyof typeof required] ?? '';
    const backwards = `?from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z${rest}`;
    const { status, paths: fields } = await refusal(call, backwards, {});
    expect([status, fields]).toEqual([400, ['to']]);
  },
);

test('rows are not gone on with behind a cursor of something else', async () => {
  const list = calls.find(({ address }) => address === '/usage');
  expect(await refusal(list!, '?cursor=nothing', {})).toMatchObject({
    status: 400,
    paths: ['cursor'],
  });
});
