import { randomBytes, scryptSync } from 'node:crypto';
import { recordAudit, replacePassword } from '#administration/index.ts';
import { createSecrets } from '#database/index.ts';
import {
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from '#test/support/gateway.ts';
import { signIn, type Person } from './person.ts';

/** The password of every person of the test gateway. */
export const password = 'a long enough password';

/** In the form that the gateway stores, with a salt of its own and a thousandth of the usual work. */
export function hashCheaply(text: string): string {
  const salt = randomBytes(16);
  const cost = { N: 128, r: 8, p: 1 };
  const key = scryptSync(text, salt, 32, cost);
  return `scrypt$128$8$1$${salt.toString('base64url')}$${key.toString('base64url')}`;
}

export const secrets = {
  admin: 'sk-admin-0123456789abcdefghijklmnopqrstu',
  member: 'sk-member-0123456789abcdefghijklmnopqrst',
};

/**
 * Of `password`. A hash names its own cost, and these tests sign in hundreds of times; `database/secrets.test.ts` has
 * the real cost.
 */
export const passwordHash = hashCheaply(password);

/** A channel, three people, and keys of two of them. */
export const config = `
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat, messages]
    models: [demo-chat]
users:
  - { email: admin@example.com, role: admin, balance: 100 }
  - { email: member@example.com, balance: 100 }
  - { email: viewer@example.com, role: viewer }
keys:
  - { name: admins, user: admin@example.com, secret: ${secrets.admin} }
  - { name: members, user: member@example.com, secret: ${secrets.member} }
`;

/** A gateway whose people can all sign in. Default: an administrator, a viewer and a member. */
export async function startWithPeople(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const gateway = await startTestGateway({ config, ...options });
  await setPasswords(gateway);
  return gateway;
}

type Place = { readonly app: Pick<TestGateway['app'], 'database'> };

/** Gives everybody who has no password yet the one of these tests. */
export async function setPasswords({ app: { database } }: Place): Promise<void> {
  const set = database.kysely.updateTable('users').set({ password_hash: passwordHash });
  await set.where('password_hash', 'is', null).execute();
}

/** As `sluice user password` would: it ends the person's sessions. */
export async function setPassword(
  { app: { database } }: Place,
  email: string,
  hash = passwordHash,
): Promise<void> {
  const secrets = createSecrets(Buffer.alloc(32, 1));
  const administration = { database, secrets, audit: recordAudit, now: Date.now };
  const command = { kind: 'command', name: 'test' } as const;
  await replacePassword(administration, command, { email, passwordHash: hash });
}

/** Signs in whose address begins with this name. */
export function signInAs({ url }: { readonly url: string }, name: string): Promise<Person> {
  return signIn(url, `${name}@example.com`, password);
}

/** A request for a model with this key. @returns its id */
export async function ask({ url }: TestGateway, secret: string, model = 'demo-chat') {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      'user-agent': 'ProbeClient/1',
    },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] }),
  });
  await response.text();
  return response.headers.get('x-request-id') ?? '';
}
