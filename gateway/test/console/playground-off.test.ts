import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '#test/support/gateway.ts';
import { config, password, setPasswords } from './people.ts';
import { signIn } from './person.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    config: `console: { members: { playground: false } }\n${config}`,
  });
  await setPasswords(gateway);
});
afterAll(() => gateway.close());

test('with console.members.playground: false only administrators have a key for it', async () => {
  for (const [who, status] of [
    ['member', 403],
    ['viewer', 403],
    ['admin', 200],
  ] as const) {
    const person = await signIn(gateway.url, `${who}@example.com`, password);
    expect([who, (await person.send('POST', '/playground/key', {})).status]).toEqual([who, status]);
  }
});
