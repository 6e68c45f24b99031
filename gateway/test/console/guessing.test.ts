import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSignIn } from '#console-api/sessions/sign-in.ts';
import { createSlots } from '#console-api/sessions/slots.ts';
import { createSignInThrottle } from '#console-api/sessions/throttle.ts';
import { createSecrets } from '#database/index.ts';
import type { TestGateway } from '#test/support/gateway.ts';
import { password, startWithPeople } from './people.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startWithPeople();
});
afterAll(() => gateway.close());

const signInAt = (now: () => number, hashing = createSlots(2, 20)) =>
  createSignIn({
    database: gateway.app.database,
    secrets: createSecrets(Buffer.alloc(32, 1)),
    hashing,
    lookUp: (ask) => ask(),
    throttle: createSignInThrottle(),
    now,
    onFailure: () => undefined,
    checkFactor: () => Promise.resolve(null),
  });

const attempt = {
  email: 'viewer@example.com',
  password,
  address: '192.0.2.1',
  browserToken: null,
};

test('S-09 guessing is delayed from the fifth failure on, but not in a browser that the person has used', async () => {
  let now = 0;
  const signIn = signInAt(() => now);
  const { browserToken } = await signIn(attempt);

  const wrong = { ...attempt, password: 'a wrong password' };
  const tries = await Promise.allSettled(Array.from({ length: 12 }, () => signIn(wrong)));
  const codes = tries.map((each) =>
    each.status === 'rejected' ? (each.reason as { code: string }).code : 'signed in',
  );
  expect(codes.map(String).toSorted()).toEqual([
    ...Array<string>(7).fill('too_many'),
    ...Array<string>(5).fill('wrong_credentials'),
  ]);

  await expect(signIn(attempt)).rejects.toMatchObject({ code: 'too_many', retryAfter: 1 });
  await expect(signIn({ ...attempt, browserToken })).resolves.toMatchObject({
    browserToken: expect.any(String),
  });
  // A mark that somebody made up does not count.
  await expect(signIn({ ...attempt, browserToken: 'made.up' })).rejects.toMatchObject({
    code: 'too_many',
  });
  // Nobody else is held up, and a second later neither is the person.
  await expect(
    signIn({ ...attempt, email: 'member@example.com', address: '192.0.2.2' }),
  ).resolves.toBeDefined();
  now = 1_000;
  await expect(signIn(attempt)).resolves.toBeDefined();
});

test('S-09 text behind the mark of a browser gives no further tries', async () => {
  const signIn = signInAt(() => 0);
  const { browserToken } = await signIn(attempt);
  for (let at = 0; at < 5; at += 1) {
    const wrong = {
      ...attempt,
      password: 'a wrong password',
      browserToken: `${browserToken}.${at}`,
    };
    await expect(signIn(wrong)).rejects.toMatchObject({ code: 'wrong_credentials' });
  }
  await expect(signIn({ ...attempt, browserToken: `${browserToken}.5` })).rejects.toMatchObject({
    code: 'too_many',
  });
});

test('S-09 a network of IPv6 has one count, whatever addresses somebody chooses in it', async () => {
  const signIn = signInAt(() => 0);
  const from = (address: string, at: number) =>
    signIn({ email: `${at}@example.com`, password: 'wrong', address, browserToken: null });
  for (const [at, end] of ['::1', '::2', ':1::', ':a:b:c:d', '::ffff'].entries()) {
    await expect(from(`2001:db8:0:1${end}`, at)).rejects.toMatchObject({
      code: 'wrong_credentials',
    });
  }
  await expect(from('2001:db8:0:1::9', 5)).rejects.toMatchObject({ code: 'too_many' });
  await expect(from('2001:db8::9', 6)).rejects.toMatchObject({ code: 'wrong_credentials' });
});

test('S-09 a try that finds the gateway busy does not count against the person', async () => {
  const signIn = signInAt(() => 0, createSlots(1, 2));
  const flood = Promise.allSettled(
    Array.from({ length: 4 }, (_, at) =>
      signIn({
        email: `${at}@example.com`,
        password,
        address: `192.0.2.${at}`,
        browserToken: null,
      }),
    ),
  );
  const attempt = {
    email: 'admin@example.com',
    password,
    address: '198.51.100.1',
    browserToken: null,
  };
  const tries = Array.from({ length: 8 }, () => signIn(attempt));
  const messages = (await Promise.allSettled(tries)).map((each) =>
    each.status === 'rejected' ? (each.reason as Error).message : 'signed in',
  );
  expect(messages).toEqual(Array<string>(8).fill('the console is busy, try again'));
  await flood;
  await expect(signIn(attempt)).resolves.toBeDefined();
});
