import { describe, expect, test } from 'vitest';
import { shareGateway } from './support.ts';
import { textProtocols, type TextProtocol } from './text-protocols.ts';

/*
 * The order of checks is part of the interface: of two faults, the first one is reported. Every pair of checks, in
 * every protocol.
 */

type Flag = 'disabled' | 'unpriced' | 'unserved';

interface Check {
  readonly name: string;
  readonly status: number;
  readonly message: RegExp;
  /** The fault: in the key, its user, its team or the membership (YAML), … */
  readonly key?: string;
  readonly user?: string;
  readonly team?: string;
  readonly member?: string;
  /** … with the model, … */
  readonly flag?: Flag;
  /** … or with the request. */
  readonly method?: string;
  readonly path?: (path: string) => string;
  readonly secret?: string;
  readonly contentType?: string;
  readonly text?: (text: string) => string;
  readonly without?: (protocol: TextProtocol) => string | null;
}

const needed = {
  chat: 'messages',
  responses: 'input',
  messages: 'messages',
  'generate-content': 'contents',
};

/** In documented order. */
const checks: readonly Check[] = [
  { name: 'route', status: 404, message: /^not found/, path: (path) => `/nowhere${path}` },
  { name: 'method', status: 405, message: /^method not allowed/, method: 'PUT' },
  { name: 'key', status: 401, message: /^invalid api key/, secret: `sk-unknown-${'0'.repeat(32)}` },
  { name: 'address', status: 403, message: /^ip address/, key: 'ips: [203.0.113.0/24]' },
  { name: 'rate', status: 429, message: /^rate limit exceeded/, key: 'rpm: 0' },
  { name: 'type', status: 415, message: /^unsupported content type/, contentType: 'text/plain' },
  {
    name: 'JSON',
    status: 400,
    message: /^invalid request body/,
    text: (text) => text.slice(0, -1),
  },
  {
    name: 'model',
    status: 400,
    message: /^model is required/,
    without: ({ name }) => (name === 'generate-content' ? null : 'model'),
  },
  {
    name: 'allowlist',
    status: 403,
    message: /is not allowed for this API key/,
    key: 'models: [m]',
  },
  { name: 'disabled', status: 403, message: /^model '[^']+' is not available/, flag: 'disabled' },
  { name: 'price', status: 400, message: /no price is set/, flag: 'unpriced' },
  {
    name: 'fields',
    status: 400,
    message: /messages|input|contents/,
    without: ({ name }) => needed[name],
  },
  {
    name: 'balance',
    status: 402,
    message: /^insufficient balance/,
    user: 'balance: 0',
    team: 'balance: 0',
  },
  { name: 'user quota', status: 402, message: /^quota limit exceeded/, user: 'quota: 0' },
  { name: 'key quota', status: 402, message: /^key quota limit exceeded/, key: 'quota: 0' },
  { name: 'daily', status: 429, message: /^team daily budget exceeded/, team: 'daily: 0' },
  { name: 'monthly', status: 429, message: /^team monthly budget exceeded/, team: 'monthly: 0' },
  { name: 'total', status: 429, message: /^team total budget exceeded/, team: 'total: 0' },
  { name: 'member', status: 429, message: /^member budget exceeded/, member: 'budget: 0' },
  { name: 'routing', status: 400, message: /please use a different model/, flag: 'unserved' },
];

interface Pair {
  readonly first: Check;
  readonly second: Check;
  readonly name: string;
  readonly secret: string;
  readonly model: string;
}

const ofTeam = ({ team, member }: Check): boolean => (team ?? member) !== undefined;

const pairs: readonly Pair[] = checks.flatMap((first, at) =>
  checks.slice(at + 1).flatMap((second, after): Pair | readonly [] => {
    const both = [first, second];
    // A key that acts for a team does not spend what is its user's.
    const excluded = both.some(({ name }) => name === 'user quota') && both.some(ofTeam);
    if (excluded && !both.some(({ name }) => name === 'balance')) return [];
    const flags = both.flatMap(({ flag }) => flag ?? []);
    const unlisted = both.some(({ name }) => name === 'allowlist');
    return {
      first,
      second,
      name: `p${at}-${at + 1 + after}`,
      secret: `sk-pair-${at}-${at + 1 + after}-`.padEnd(48, '0'),
      model: ['m', ...(unlisted && flags.length === 0 ? ['other'] : flags)].join('-'),
    };
  }),
);

function accounts(): string {
  const users: string[] = [];
  const teams: string[] = [];
  const keys: string[] = [];
  for (const { first, second, name, secret } of pairs) {
    const both = [first, second];
    const all = (of: 'key' | 'user' | 'team' | 'member') =>
      both.flatMap((check) => check[of] ?? []);
    const isTeam = both.some((check) => ofTeam(check) && check.name !== 'balance');
    const user = isTeam ? [] : all('user');
    const email = `${name}@example.com`;
    const rich = user.includes('balance: 0') ? [] : ['balance: 100'];
    users.push(`{ email: ${email}, ${[...rich, ...user].join(', ')} }`);
    if (isTeam) {
      const budget = all('team').filter((text) => !text.startsWith('balance'));
      const balance = all('team').includes('balance: 0') ? 0 : 100;
      const member = [`user: ${email}`, ...all('member')].join(', ');
      teams.push(
        `{ name: ${name}, balance: ${balance}, budget: { ${budget.join(', ')} }, members: [{ ${member} }] }`,
      );
    }
    const key = [...all('key'), ...(isTeam ? [`team: ${name}`] : [])].map((text) => `, ${text}`);
    keys.push(`{ name: ${name}, user: ${email}, secret: ${secret}${key.join('')} }`);
  }
  const list = (lines: readonly string[]) => lines.map((line) => `\n  - ${line}`).join('');
  return `users:${list(users)}\nteams:${list(teams)}\nkeys:${list(keys)}\n`;
}

const models = [...new Set(pairs.map(({ model }) => model))];

const shared = shareGateway({
  config: `
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat, responses, messages, generate-content]
    models: [${models
      .filter((name) => !name.includes('unserved'))
      .map((name) => `{ name: ${name}, upstream: demo-chat }`)
      .join(', ')}]
models:
${models
  .map((id) => {
    const price = id.includes('unpriced') ? '' : ', price: { input: 1, output: 2 }';
    return `  - { id: ${id}, type: chat, enabled: ${!id.includes('disabled')}${price} }`;
  })
  .join('\n')}
${accounts()}`,
});

async function ask(protocol: TextProtocol, { first, second, secret, model }: Pair) {
  const both = [first, second];
  const one = <Name extends keyof Check>(name: Name) =>
    both.find((check) => check[name] !== undefined)?.[name];
  const body = { ...protocol.body(model, false) };
  for (const { without } of both) delete body[without?.(protocol) ?? ''];
  const path = protocol.path(model, false);
  const text = JSON.stringify(body);
  const response = await fetch(shared.gateway.url + (one('path')?.(path) ?? path), {
    method: one('method') ?? 'POST',
    headers: {
      authorization: `Bearer ${one('secret') ?? secret}`,
      'content-type': one('contentType') ?? 'application/json',
    },
    body: one('text')?.(text) ?? text,
  });
  const parsed = (await response.json()) as { error: { message: string } };
  return [response.status, parsed.error.message];
}

describe.each(textProtocols)('$name', (protocol) => {
  test.each(pairs)('$first.name comes before $second.name', async (pair) => {
    const { first, second } = pair;
    if ([first, second].some(({ without }) => without?.(protocol) === null)) return;
    expect(await ask(protocol, pair)).toEqual([first.status, expect.stringMatching(first.message)]);
  });
});

test('a refused request never reaches an upstream', () => {
  expect(pairs.length).toBeGreaterThan(150);
  expect(shared.gateway.simulator.requests()).toEqual([]);
});
