import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ConfigError, parseConfig } from '#config/index.ts';

function problemsOf(text: string, environment: Record<string, string> = {}): string[] {
  try {
    parseConfig(text, { file: 'f.yaml', environment, bundledModels: ['gpt-5'] });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split('\n');
  }
}

const model = (fields: string) => `models:\n  - { id: m, ${fields} }`;
const channel = (fields: string) =>
  `channels:\n  - { name: c, provider: openai, models: [], ${fields} }`;
const key = (fields: string) =>
  `users: [{ email: a@b.c }]\nkeys:\n  - { name: k, user: a@b.c, ${fields} }`;
const secret = 'sk-a-secret-that-is-long-enough-0001';

test.each<readonly [text: string, ...problems: string[]]>([
  // Keys
  [
    'server:\n  prot: 1',
    'f.yaml:2: server.prot: expected a known key, got "prot" (did you mean "port"?)',
  ],
  ['sevrer: {}', 'f.yaml:1: sevrer: expected a known key, got "sevrer" (did you mean "server"?)'],
  [
    'limits: { everything: 1 }',
    'f.yaml:1: limits.everything: expected one of the keys in_flight, queue, body_memory, spool, key_concurrency, conversation_memory, lease_reserve, got "everything"',
  ],
  [
    'server:\n  port: 1\n  port: 2',
    'f.yaml:3: server.port: expected each key once, got a duplicate (first on line 2)',
  ],
  // Types
  ['server: 5', 'f.yaml:1: server: expected a mapping, got 5'],
  [
    'server:\n  port: "80"',
    'f.yaml:2: server.port: expected a whole number from 0 to 65535, got "80"',
  ],
  [
    'server: { port: 70000 }',
    'f.yaml:1: server.port: expected a whole number from 0 to 65535, got 70000',
  ],
  [
    'server: { port: 1e3 }',
    'f.yaml:1: server.port: expected a whole number from 0 to 65535, got 1e3',
  ],
  [
    'server: { workers: 99999999999999999999 }',
    'f.yaml:1: server.workers: expected a whole number from 1 to 256, got 99999999999999999999',
  ],
  ['video: { check_audio: yes }', 'f.yaml:1: video.check_audio: expected true or false, got "yes"'],
  ['users:\n  email: a@b.c', 'f.yaml:1: users: expected a list, got a mapping'],
  [
    'users:\n  - email: a@b.c\n    groups: [default, lab]',
    'f.yaml:3: users[0].groups[1]: expected a group of groups, got "lab"',
  ],
  [
    'teams:\n  - name: a\n    groups: [default, default]',
    'f.yaml:3: teams[0].groups[1]: expected each entry once, got a duplicate',
  ],
  [
    'groups: [{ name: default, enabled: false }]',
    'f.yaml:1: groups[0].enabled: expected true: keys that name no group are in this one, got false',
  ],
  ['groups: [5]', 'f.yaml:1: groups[0]: expected a mapping, got 5'],
  ['groups:\n  - name: 12', 'f.yaml:2: groups[0].name: expected a group name in quotes, got 12'],
  [
    'groups:\n  - price_multiplier: 2',
    'f.yaml:2: groups[0].name: expected a group name, got nothing',
  ],
  ['[]', 'f.yaml:1: expected a mapping of settings, got a list'],
  // Units
  [
    'timeouts:\n  connect: 3',
    'f.yaml:2: timeouts.connect: expected a duration such as 500ms, 30s, 5m or 24h, got 3',
  ],
  [
    'timeouts: { total: 30 minutes }',
    'f.yaml:1: timeouts.total: expected a duration such as 500ms, 30s, 5m or 24h, got "30 minutes"',
  ],
  ['timeouts: { total: 0s }', 'f.yaml:1: timeouts.total: expected a duration above zero, got 0'],
  [
    'timeouts: { total: 60d }',
    'f.yaml:1: timeouts.total: expected a duration of at most 24d, got more',
  ],
  [
    'server: { body_limit: 64MB }',
    'f.yaml:1: server.body_limit: expected a size such as 64KiB, 64MiB or 4GiB, got "64MB"',
  ],
  // Settings
  [
    'server: { trusted_proxies: [10.0.0.0/33] }',
    'f.yaml:1: server.trusted_proxies[0]: expected an address or a range such as 10.0.0.0/8, got "10.0.0.0/33"',
  ],
  ...['https://a.example/', 'a.example', 'ftp://a.example', 'https://*.example', 'null'].map(
    (origin): [string, string] => [
      `server: { cors_origins: ["${origin}"] }`,
      `f.yaml:1: server.cors_origins[0]: expected an origin such as https://app.example.com, or *, got "${origin}"`,
    ],
  ),
  // Sign-ins at a provider
  [
    'oidc: { issuer: http://login.example.com, client_id: c }\nserver: { public_url: https://a.b }',
    'f.yaml:1: oidc.issuer: expected an https URL, or http on this machine, got http',
  ],
  [
    'oidc:\n  issuer: https://login.example.com',
    'f.yaml:1: oidc.client_id: expected the id of this gateway at the issuer, got nothing',
    'f.yaml:1: server.public_url: expected the address that the issuer leads back to, got nothing',
  ],
  [
    'oidc: { only: true }',
    'f.yaml:1: oidc.issuer: expected the issuer, as oidc has other settings, got nothing',
  ],
  [
    'server: { public_url: https://a.b }\noidc: { issuer: http://127.0.0.1:5556, client_id: c, scopes: [email], role_map: { a: admin } }',
    'f.yaml:2: oidc.scopes: expected openid among them, got others',
    'f.yaml:2: oidc.role_claim: expected the claim that role_map reads, got nothing',
  ],
  [
    'server: { public_url: https://a.b }\noidc: { issuer: https://b.c, client_id: c, role_claim: groups, domains: [Example.com] }',
    'f.yaml:2: oidc.domains[0]: expected a domain such as example.com, in lower case, got "Example.com"',
  ],
  [
    'server: { public_url: https://a.b }\noidc: { issuer: https://b.c, client_id: c, role_claim: groups }',
    'f.yaml:2: oidc.role_map: expected a role for a group, as role_claim is set, got nothing',
  ],
  [
    'server: { public_url: ftp://x }',
    'f.yaml:1: server.public_url: expected a URL such as https://ai.example.com, got "ftp://x"',
  ],
  [
    'server:\n  tls: { cert: a.pem }',
    'f.yaml:2: server.tls.key: expected both cert and key, or neither, got nothing',
  ],
  [
    'server: { workers: 2 }\nredis: { url: "redis://r" }',
    'f.yaml:1: server.workers: expected 1 unless storage.url is a postgres URL, got 2',
  ],
  [
    'storage: { url: "mysql://u:pw@h/d" }',
    'f.yaml:1: storage.url: expected sqlite:<file> or postgres://user:password@host/database, got a string',
  ],
  [
    'secrets: { master_key: c2hvcnQ= }',
    'f.yaml:1: secrets.master_key: expected 32 bytes in base64 (openssl rand -base64 32), got a string',
  ],
  [
    'secrets: { master_key: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= }',
    'f.yaml:1: secrets.master_key: expected 32 random bytes, got a well-known sample',
  ],
  [
    'admin: { password: changeme }',
    'f.yaml:1: admin.password: expected a password of your own, got a well-known sample',
  ],
  [
    'billing: { lease_age: 1s }',
    'f.yaml:1: billing.lease_age: expected a duration of at least 10s, got less',
  ],
  [
    'billing: { lease_share: 1.5 }',
    'f.yaml:1: billing.lease_share: expected a share from 0 to 1 with at most 3 decimals, got 1.5',
  ],
  [
    'billing: { missing_usage: estimat }',
    'f.yaml:1: billing.missing_usage: expected one of estimate, zero, error, got "estimat" (did you mean "estimate"?)',
  ],
  // Channels
  [
    'channels:\n  - name: c\n    provider: opnai\n    models: []',
    'f.yaml:3: channels[0].provider: expected one of openai, openai-compatible, anthropic, gemini, dashscope, ark, simulator, got "opnai" (did you mean "openai"?)',
  ],
  [
    'channels:\n  - { name: c, provider: openai }',
    'f.yaml:2: channels[0].models: expected a list, got nothing',
  ],
  [
    'channels:\n  - { name: c, provider: openai-compatible, models: [] }',
    'f.yaml:2: channels[0].base_url: expected a URL such as https://api.example.com/v1, got nothing',
  ],
  [
    channel('base_url: "https://u:p@host/v1"'),
    'f.yaml:2: channels[0].base_url: expected a URL such as https://api.example.com/v1, got a string',
  ],
  [
    channel('api_key: a, api_keys: [b]'),
    'f.yaml:2: channels[0].api_keys: expected either api_key or api_keys, got both',
  ],
  ...[
    '"ftp://proxy:3128"',
    '"http://"',
    '"http://proxy:99999"',
    '"http://proxy:3128/path"',
    '"http://bob:s3c%ret@proxy:3128"',
    '"socks5://bob:s3cret@proxy:1080"',
  ].map(
    (url) =>
      [
        channel(`proxy: ${url}`),
        'f.yaml:2: channels[0].proxy: expected direct, or the URL of a proxy, such as http://proxy.example.com:3128, got a string',
      ] as const,
  ),
  [channel('api_key: 12345'), 'f.yaml:2: channels[0].api_key: expected an API key, got a number'],
  [
    channel('groups: [vip]'),
    'f.yaml:2: channels[0].groups[0]: expected a group of groups, got "vip"',
  ],
  [
    channel('protocols: [chats]'),
    'f.yaml:2: channels[0].protocols[0]: expected one of chat, responses, messages, generate-content, images, embeddings, video-synthesis, video-contents, got "chats" (did you mean "chat"?)',
  ],
  [
    channel('user_agents: ["a*b*c*d*e*f*g*h*i*j"]'),
    'f.yaml:2: channels[0].user_agents[0]: expected a pattern such as claude-cli/*, got "a*b*c*d*e*f*g*h*i*j"',
  ],
  [
    channel('headers: { Host: x }'),
    'f.yaml:2: channels[0].headers.Host: expected a header that does not control the connection, got "Host"',
  ],
  [
    channel('headers: { x-a: "a\\nb" }'),
    'f.yaml:2: channels[0].headers.x-a: expected a header value, got a string',
  ],
  [
    'channels:\n  - name: c\n    provider: openai\n    models:\n      - gpt-5\n      - gtp-5',
    'f.yaml:6: channels[0].models[1]: expected a model of models, aliases or the bundled catalogue, got "gtp-5" (did you mean "gpt-5"?)',
  ],
  [
    'channels:\n  - { name: c, provider: openai, models: [gpt-5, { name: gpt-5, upstream: x }] }',
    'f.yaml:2: channels[0].models[1]: expected each model once, got "gpt-5" again',
  ],
  [
    'channels:\n  - { name: c, provider: openai, models: [] }\n  - { name: c, provider: ark, models: [] }',
    'f.yaml:3: channels[1].name: expected a different name, got the one of channels[0]',
  ],
  // Models and prices
  [
    model('type: text'),
    'f.yaml:2: models[0].type: expected one of chat, image, video, embedding, got "text"',
  ],
  [
    model('type: chat, price: { input: "1,5" }'),
    'f.yaml:2: models[0].price.input: expected a price in USD per million tokens from 0 to 1000000 with at most 9 decimals, got "1,5"',
  ],
  [
    model('type: chat, price: { input: -1 }'),
    'f.yaml:2: models[0].price.input: expected a price in USD per million tokens from 0 to 1000000 with at most 9 decimals, got -1',
  ],
  [
    model('type: chat, price: { input: .nan }'),
    'f.yaml:2: models[0].price.input: expected a price in USD per million tokens from 0 to 1000000 with at most 9 decimals, got .nan',
  ],
  [
    model('type: chat, price: { video_second: { 720P: 1 } }'),
    'f.yaml:2: models[0].price.video_second: expected a price part of chat models (input, cache_read, cache_write, cache_write_1h, output, input_image, output_image, input_audio, cache_read_audio, output_audio, cache_read_image, tiers, multipliers, fees), got "video_second"',
  ],
  [
    model(
      'type: video, price: { video_second: { 720P: 1 }, video_tokens: { 720P: { text: 1, with_video: 1 } } }',
    ),
    'f.yaml:2: models[0].price.video_tokens: expected either video_second or video_tokens, got both',
  ],
  [
    model('type: video, price: { video_tokens: { 720P: { text: 1 } } }'),
    'f.yaml:2: models[0].price.video_tokens["720P"].with_video: expected a price in USD per million tokens from 0 to 1000000 with at most 9 decimals, got nothing',
  ],
  [
    model(
      'type: chat, price: { input: 1, output: 1, tiers: [{ above: 9, input: 2 }, { above: 9, input: 3 }, { above: 10 }] }',
    ),
    'f.yaml:2: models[0].price.tiers[1].above: expected more than 9, the tier before, got 9',
    'f.yaml:2: models[0].price.tiers[2]: expected at least one price, got none',
  ],
  [
    model(
      'type: image, price: { image_tiers: [{ name: 1K, max_pixels: 9, price: 1 }, { name: 2K, max_pixels: 8, price: 2 }] }',
    ),
    'f.yaml:2: models[0].price.image_tiers[1].max_pixels: expected more than 9, the tier before, got 8',
  ],
  [
    model(
      'type: image, price: { image_tiers: [{ name: 1K, max_pixels: 9, price: 1 }], multipliers: { service_tier.priority: 2 } }',
    ),
    'f.yaml:2: models[0].price.multipliers: expected input and output beside it, got image_tiers',
  ],
  [
    'aliases: { a: gpt-6 }',
    'f.yaml:1: aliases.a: expected a model of models or the bundled catalogue, got "gpt-6" (did you mean "gpt-5"?)',
  ],
  [
    'aliases:\n  a: gpt-5\n  b: a',
    'f.yaml:3: aliases.b: expected a model id, not another alias, got "a"',
  ],
  [
    'models: [{ id: m, type: chat }]\naliases:\n  gpt-5: m\n  b: gpt-5',
    'f.yaml:4: aliases.b: expected a model id, not another alias, got "gpt-5"',
  ],
  [
    'aliases: { gpt-5: gpt-5 }',
    'f.yaml:1: aliases.gpt-5: expected a model id, not another alias, got "gpt-5"',
  ],
  [
    'channels: [{ name: c, provider: anthropic, models: [], protocols: [messages, chat] }]',
    'f.yaml:1: channels[0].protocols[1]: expected a protocol of anthropic (messages), got "chat"',
  ],
  [
    'channels: [{ name: c, provider: openai-compatible, base_url: "http://h", models: [], protocols: [images, messages] }]',
    'f.yaml:1: channels[0].protocols[1]: expected a protocol of openai-compatible (chat, embeddings, responses, images), got "messages"',
  ],
  // Patterns
  [
    "channels: [{ name: c, provider: openai, models: ['gpt-*', { name: 'o*', upstream: o }, '*********'] }]",
    'f.yaml:1: channels[0].models[1].name: expected an exact name, got "o*"',
    'f.yaml:1: channels[0].models[2]: expected at most 8 stars, got "*********"',
  ],
  [
    "models: [{ id: 'm*', type: chat }]\naliases: { 'a*': gpt-5, 'b*': 'a*', '*********': gpt-5 }",
    'f.yaml:1: models[0].id: expected a name without *, got "m*"',
    'f.yaml:2: aliases["b*"]: expected a model of models or the bundled catalogue, got "a*" (did you mean "m*"?)',
    'f.yaml:2: aliases["*********"]: expected at most 8 stars, got "*********"',
  ],
  [
    "users: [{ email: a@b.c }]\nkeys: [{ name: k, user: a@b.c, models: ['a*'] }]\naliases: { 'a*': gpt-5 }",
    'f.yaml:2: keys[0].models[0]: expected a model of models, aliases or the bundled catalogue, got "a*"',
  ],
  // Accounts
  ['users: [{ email: ada }]', 'f.yaml:1: users[0].email: expected an e-mail address, got "ada"'],
  [
    'users: [{ email: "ada@x\\u202egro.example" }]',
    'f.yaml:1: users[0].email: expected an e-mail address, got "ada@x\u202egro.example"',
  ],
  [
    'users: [{ email: a@b.c }, { email: A@B.C }]',
    'f.yaml:1: users[1].email: expected a different email, got the one of users[0]',
  ],
  [
    'users: [{ email: a@b.c, balance: 0.0000000001 }]',
    'f.yaml:1: users[0].balance: expected an amount in USD from 0 to 1000000000 with at most 9 decimals, got 0.0000000001',
  ],
  [
    'teams:\n  - { name: t, members: [{ user: ada@example.com }] }',
    'f.yaml:2: teams[0].members[0].user: expected a user of users, got "ada@example.com"',
  ],
  [
    'teams: [{ name: t, time_zone: Europe/Atlantis }]',
    'f.yaml:1: teams[0].time_zone: expected a time zone such as Europe/Berlin, got "Europe/Atlantis"',
  ],
  [key('team: red'), 'f.yaml:3: keys[0].team: expected a team of teams, got "red"'],
  [key('group: vip'), 'f.yaml:3: keys[0].group: expected a group of groups, got "vip"'],
  [
    key('models: [gpt-55]'),
    'f.yaml:3: keys[0].models[0]: expected a model of models, aliases or the bundled catalogue, got "gpt-55" (did you mean "gpt-5"?)',
  ],
  [
    key('secret: sk-short'),
    'f.yaml:3: keys[0].secret: expected a secret that begins with sk- and has at least 32 characters, got a string',
  ],
  [
    key(`secret: sk-${'x'.repeat(40)}`),
    'f.yaml:3: keys[0].secret: expected a secret of your own, got a well-known sample',
  ],
  [
    key('expires_at: 2027-02-30T00:00:00Z'),
    'f.yaml:3: keys[0].expires_at: expected a time with its zone such as 2027-01-01T00:00:00Z, got "2027-02-30T00:00:00Z"',
  ],
  [
    key('ips: [localhost]'),
    'f.yaml:3: keys[0].ips[0]: expected an address or a range such as 10.0.0.0/8, got "localhost"',
  ],
  [
    key(`secret: ${secret} }\n  - { name: l, user: a@b.c, secret: ${secret}`),
    'f.yaml:4: keys[1].secret: expected a secret of its own, got the secret of keys[0]',
  ],
  // Placeholders
  [
    'redis:\n  url: ${REDIS}',
    'f.yaml:2: redis.url: expected the environment variable REDIS to be set, got nothing',
  ],
  [
    'admin: { password: "${file:/nowhere/at/all}" }',
    'f.yaml:1: admin.password: expected the file /nowhere/at/all to be readable, got no such file',
  ],
  [
    'redis: { url: "${1X}" }',
    'f.yaml:1: redis.url: expected ${NAME}, ${NAME:-default} or ${file:/path}, got another placeholder (write $${ for a literal ${)',
  ],
  [
    'channels:\n  - &c { name: c, provider: openai, models: [] }\n  - { <<: *c, name: d, provider: openai, models: [] }',
    'f.yaml:3: channels[1]["<<"]: expected every key written out (YAML merge keys are not read), got "<<"',
  ],
  // Syntax
  [
    'a: [1',
    'f.yaml:1: expected valid YAML, got flow sequence in block collection must be sufficiently indented and end with a ]',
  ],
  [
    'redis: { url: ${X} }',
    'f.yaml:1: expected valid YAML, got an unquoted ${…} inside { } or [ ] (write it in double quotes)',
  ],
  [
    'metrics: { token: ${X} }\nserver: { port: 1 }\nchannels:\n  - { name: a }',
    'f.yaml:1: expected valid YAML, got an unquoted ${…} inside { } or [ ] (write it in double quotes)',
  ],
  ['server:\n\tport: 1', 'f.yaml:2: expected valid YAML, got a tab as indentation (use spaces)'],
  ['a: 1\n---\nb: 2', 'f.yaml:2: expected valid YAML, got a second document'],
  ['a: !secret x', 'f.yaml:1: expected valid YAML, got an unknown tag'],
  [
    'models:\n  - { id: m, type: chat, allow: [priority], price: { multipliers: { tier.priority: 2 }, fees: { web_searches: 1 } } }',
    'f.yaml:2: models[0].allow[0]: expected a surcharge such as service_tier.flex, got "priority"',
    'f.yaml:2: models[0].price.multipliers["tier.priority"]: expected one of service_tier, speed, inference_geo and a value in lower case, such as service_tier.priority, got "tier.priority"',
    'f.yaml:2: models[0].price.fees.web_searches: expected a use that is charged (web_search, grounded_prompt), got "web_searches"',
  ],
  [
    'models:\n  - { id: m, type: chat, price: { multipliers: { speed.fast: 1.0000001 }, fees: {} } }',
    'f.yaml:2: models[0].price.multipliers["speed.fast"]: expected a multiplier from 0 to 1000 with at most 6 decimals, got 1.0000001',
    'f.yaml:2: models[0].price.fees: expected at least one entry, got an empty mapping',
  ],
  // Everything at once
  [
    'server:\n  prot: 1\n  host: [a]\nchannels:\n  - name: c\n    provider: openai\n    models: [nothing]\nkeys:\n  - { name: k, user: x@y.z, rpm: fast }',
    'f.yaml:2: server.prot: expected a known key, got "prot" (did you mean "port"?)',
    'f.yaml:3: server.host: expected a host name or an address, got a list',
    'f.yaml:7: channels[0].models[0]: expected a model of models, aliases or the bundled catalogue, got "nothing"',
    'f.yaml:9: keys[0].rpm: expected a whole number from 0 to 1000000000, got "fast"',
    'f.yaml:9: keys[0].user: expected a user of users, got "x@y.z"',
  ],
])('%s', (text, ...problems) => {
  expect(problemsOf(text)).toEqual(problems);
});

test.each(['$OPENAI_API_KEY', 'os.environ/OPENAI_API_KEY', '{{Key}}', '%KEY%', 'env:KEY'])(
  '%s would be sent to the upstream verbatim, and is refused as an API key',
  (text) => {
    const keys = `channels: [{ name: c, provider: openai, models: [], api_keys: ["ok", "${text}"] }]`;
    expect(problemsOf(keys)).toEqual([
      'f.yaml:1: channels[0].api_keys[1]: expected an API key, or ${NAME} for that of a variable, got the name of a variable',
    ]);
  },
);

test('placeholders fill strings, numbers and flags, and never become YAML', () => {
  const environment = { PORT: '9001', NAME: '} , x: y: [', EMPTY: '', FLAG: 'false' };
  const config = parseConfig(
    [
      'server: { port: "${PORT}" }',
      'video: { check_audio: "${FLAG}" }',
      'metrics: { token: "a${EMPTY:-b}c$${PORT}${NONE:-}" }',
      'users: [{ email: a@b.c, name: "${NAME}" }]',
    ].join('\n'),
    { file: 'f.yaml', environment },
  );
  expect(config.server.port).toBe(9001);
  expect(config.video.checkAudio).toBe(false);
  expect(config.metrics.token).toBe('abc${PORT}');
  expect(config.declared?.users[0]?.name).toBe('} , x: y: [');
});

test('a value from the environment never appears in a message', () => {
  const places = [
    'server: { host: "V" }',
    'server: { port: "V" }',
    'server: { public_url: "V" }',
    'server: { cors_origins: ["V"] }',
    'server: { trusted_proxies: ["V"] }',
    'storage: { url: "V" }',
    'redis: { url: "V" }',
    'secrets: { master_key: "V" }',
    'admin: { email: "V" }',
    'billing: { missing_usage: "V" }',
    'timeouts: { connect: "V" }',
    'channels: [{ name: c, provider: "V", models: ["V", { name: "V" }], groups: ["V"], base_url: "V" }]',
    'models: [{ id: m, type: "V", capabilities: ["V"], price: { input: "V" } }]',
    'aliases: { a: "V" }',
    'users: [{ email: "V" }, { email: "V", role: "V", quota: "V" }]',
    'teams: [{ name: t, members: [{ user: "V" }, { user: "V@V" }], time_zone: "V" }]',
    'keys: [{ name: k, user: "V@V", secret: "V", team: "V", group: "V", models: ["V"], ips: ["V"], expires_at: "V" }]',
    '"V"',
    'server: "V"',
  ];
  const canary = fc.stringMatching(/^[a-z ]{0,6}Q7canary[a-z @:/-]{0,8}$/);
  fc.assert(
    fc.property(fc.constantFrom(...places), canary, (place, value) => {
      const text = place.replaceAll('V', '${SECRET}');
      const problems = problemsOf(text, { SECRET: value });
      expect(problems.join('\n')).not.toContain('canary');
    }),
    { numRuns: 300 },
  );
});

test('proxies of the environment are read as other programs read them, and checked', () => {
  const read = (environment: Record<string, string>) =>
    parseConfig('', { file: 'f.yaml', environment }).proxies;
  const one = 'http://one.example:3128/';
  expect(read({ HTTP_PROXY: 'one.example:3128' })).toEqual({ http: one, https: one, direct: [] });
  expect(
    read({
      HTTP_PROXY: 'x',
      http_proxy: one,
      HTTPS_PROXY: 'https://u:p%40@two',
      no_proxy: ' a, .b',
    }),
  ).toEqual({ http: one, https: 'https://u:p%40@two/', direct: ['a', '.b'] });
  expect(read({ HTTP_PROXY: ' ', no_proxy: '' })).toEqual({ http: null, https: null, direct: [] });
  const wrong = { https_proxy: 'socks5://u:s3cret@p:1', HTTP_PROXY: 'http://s3cret:99999' };
  const expected = 'expected the URL of a proxy, such as http://proxy.example.com:3128';
  expect(problemsOf('', { ...wrong, NO_PROXY: 'a,10.0.0.0/33' }).toSorted()).toEqual([
    `HTTP_PROXY: ${expected}, got something else`,
    'NO_PROXY: expected hosts, domains and address ranges, got another entry',
    `https_proxy: ${expected}, got something else`,
  ]);
});

test('a credential in the wrong place is not repeated', () => {
  const pasted = 'sk-proj-abcdefghijklmnop';
  const text = `server: { host: "${pasted}!" }\nchannels: [{ name: a, provider: ${pasted}, models: [${pasted}] }]`;
  expect(problemsOf(text)).toHaveLength(3);
  expect(problemsOf(text).join()).not.toContain(pasted);
  expect(problemsOf(`admin: { password: "${pasted}" x }`).join()).not.toContain(pasted);
});

test('thousands of wrong names are reported in seconds', () => {
  const numbers = Array.from({ length: 3_000 }, (_, index) => index);
  const models = numbers.map((number) => `  - { id: model-${number}, type: chat }`);
  const aliases = numbers.map((number) => `  alias-${number}: model-${number}x`);
  expect(problemsOf(['models:', ...models, 'aliases:', ...aliases].join('\n'))).toHaveLength(3_000);
});
