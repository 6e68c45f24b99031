import { z } from 'zod';
import { dictionary, distinctList, type Frozen, mapping } from './collection.ts';
import { databaseAway } from './database-away.ts';
import { userRoles } from './kinds/user.ts';
import {
  WrongBecause,
  addressRange,
  decimal,
  duration,
  emailAddress,
  flag,
  integer,
  leaf,
  longestTimer,
  name,
  oneOf,
  size,
  sizeOrNone,
  string,
  usd,
} from './leaf.ts';
import {
  isHost,
  isLoopback,
  isRedisUrl,
  isResultStorageUrl,
  isStorageUrl,
  parseHostPort,
  parseHttpUrl,
  trimUrl,
} from './network.ts';
import { isSampleSecret } from './secret-strength.ts';

const day = 86_400_000;
const longest = 36_500 * day;

const httpUrl = (example: string) =>
  leaf(
    `a URL such as ${example}`,
    ({ value }) => {
      const url = typeof value === 'string' ? parseHttpUrl(value) : null;
      return url === null ? undefined : trimUrl(url);
    },
    { fallback: null },
  );

const filePath = () => string('a file path', (text) => !text.includes('\0'), { fallback: null });

/** A secret that the operator chooses; well-known samples are refused. */
export const chosenSecret = (what: string) =>
  leaf(
    what,
    ({ value }) => {
      if (typeof value !== 'string') return undefined;
      return isSampleSecret(value)
        ? new WrongBecause(`${what} of your own`, 'a well-known sample')
        : value;
    },
    { fallback: null, secret: true },
  );

const masterKey = leaf(
  '32 bytes in base64 (openssl rand -base64 32)',
  ({ value }) => {
    if (typeof value !== 'string' || !/^[A-Za-z0-9+/_-]{42,43}=?$/.test(value)) return undefined;
    const key = Buffer.from(value, 'base64');
    if (key.length !== 32) return undefined;
    const isSample = new Set(key).size < 8;
    return isSample ? new WrongBecause('32 random bytes', 'a well-known sample') : key;
  },
  { fallback: null, secret: true },
);

const server = mapping({
  host: string('a host name or an address', isHost, { fallback: '127.0.0.1' }),
  /** 0 = any free port. */
  port: integer(0, 65_535, { fallback: 8080 }),
  public_url: httpUrl('https://ai.example.com'),
  /** Origins whose pages may call the models; `*`: every one. */
  cors_origins: distinctList(
    string('an origin such as https://app.example.com, or *', isOrigin),
    () => ['*'],
  ),
  trusted_proxies: distinctList(addressRange(), () => []),
  body_limit: size({ fallback: 64 * 2 ** 20 }),
  tls: mapping({ cert: filePath(), key: filePath() }),
  drain_timeout: duration(0, longestTimer, { fallback: 60_000 }),
  workers: integer(1, 256, { fallback: 1 }),
});

/** As browsers send it: without a path, and without a port that is the usual one. */
function isOrigin(text: string): boolean {
  return text === '*' || (/^https?:[^*]+$/.test(text) && URL.parse(text)?.origin === text);
}

const share = { places: 3, minimum: '0', maximum: '1' };

/** The parts of `timeouts`, as defaults of the gateway or as overrides of a channel. */
const timeoutParts = <Fallback>(of: (usual: number) => Fallback) => ({
  connect: timer(of(3_000)),
  first_byte: timer(of(120_000)),
  image_first_byte: timer(of(300_000)),
  stream_idle: timer(of(120_000)),
  total: timer(of(1_800_000)),
  keepalive_comment: timer(of(15_000)),
});

const timeouts = mapping(timeoutParts((usual) => usual));

/** The names of the parts. */
export const timeoutNames: readonly string[] = Object.keys(timeoutParts((usual) => usual));

/** Only those that are overridden. */
export const channelTimeouts = mapping(timeoutParts(() => null)).transform(
  (values) =>
    Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as Partial<
      z.output<typeof timeouts>
    >,
);

function timer<Fallback>(fallback: Fallback) {
  return duration(1, longestTimer, { fallback });
}

const video = mapping({
  poll_interval: timer(10_000),
  expire_after: duration(1, longest, { fallback: day }),
  check_audio: flag({ fallback: true }),
  keep_results: flag({ fallback: false }),
  storage_url: string('file:<folder> or s3://bucket/prefix', isResultStorageUrl, {
    fallback: 'file:./data/results',
  }),
  s3: mapping({
    /** Null: Amazon's. */
    endpoint: httpUrl('https://s3.example.com'),
    region: string('a region such as eu-central-1', (text) => /^[\w-]+$/.test(text), {
      fallback: 'us-east-1',
    }),
    access_key_id: string('an access key', (text) => /^\S+$/.test(text), { fallback: null }),
    secret_access_key: string('a secret key', (text) => /^\S+$/.test(text), {
      fallback: null,
      secret: true,
    }),
  }),
});

/** Exactly as the provider spells it in its tokens, so with its slash at the end if it has one. */
const issuer = leaf(
  'an https URL such as https://login.example.com',
  ({ value }) => {
    const url = typeof value === 'string' ? parseHttpUrl(value) : null;
    if (url === null || typeof value !== 'string') return undefined;
    return url.protocol === 'https:' || isLoopback(url.hostname)
      ? value
      : new WrongBecause('an https URL, or http on this machine', 'http');
  },
  { fallback: null },
);

const printable = (text: string) => /^[\x21-\x7e]{1,1000}$/.test(text);

/** A provider of OpenID Connect, where people sign in. */
const oidc = mapping({
  /** Null: people sign in with passwords only. */
  issuer,
  client_id: string('the id of this gateway at the issuer', printable, { fallback: null }),
  /** Null: the provider knows the gateway as a public client. */
  client_secret: string('a client secret', printable, { fallback: null, secret: true }),
  scopes: distinctList(
    string('a scope such as email', (text) => /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/.test(text)),
    () => ['openid', 'email', 'profile'],
  ),
  /** What the button says; null: the host of the issuer. */
  name: name('a name for the button', { fallback: null }),
  /** Those whose people may sign in; none: all of them. */
  domains: distinctList(
    string('a domain such as example.com, in lower case', (text) =>
      /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(text),
    ),
    () => [],
  ),
  /** Whether people whom the gateway does not know get an account. */
  create: flag({ fallback: true }),
  role: oneOf(userRoles, { fallback: 'member' }),
  /** The claim with the groups of a person; null: roles are given in the console. */
  role_claim: string('the name of a claim such as groups', printable, { fallback: null }),
  /** The role that each group gives. */
  role_map: dictionary(oneOf(userRoles)),
  /** Whether passwords are off, for all but one administrator. */
  only: flag({ fallback: false }),
});

/** Every section that is not a list of rows, by its key in the file. Durations are in milliseconds, sizes in bytes. */
export const settings = {
  server,
  storage: mapping({
    url: string('sqlite:<file> or postgres://user:password@host/database', isStorageUrl, {
      fallback: 'sqlite:./data/sluice.db',
      secret: true,
    }),
    data_dir: string('a folder', (text) => !text.includes('\0'), { fallback: './data' }),
  }),
  redis: mapping({
    url: string('redis://host:6379 or rediss://…', isRedisUrl, { fallback: null, secret: true }),
  }),
  /** Null: the gateway generates it in `storage.data_dir`. */
  secrets: mapping({ master_key: masterKey }),
  admin: mapping({
    email: emailAddress({ fallback: 'admin@localhost' }),
    password: chosenSecret('a password'),
  }),
  journal: mapping({
    max_size: size({ fallback: 4 * 2 ** 30 }),
    replay: duration(60_000, longest, { fallback: 600_000 }),
  }),
  limits: mapping({
    in_flight: integer(1, 1_000_000, { fallback: 5000 }),
    queue: integer(0, 1_000_000, { fallback: 500 }),
    /** For the bodies of requests in flight, per process; null: a quarter of the memory that each process may use. */
    body_memory: size({ fallback: null }),
    /** Files of images under way, per process. */
    spool: size({ fallback: 4 * 2 ** 30 }),
    /** Requests of one key in flight, per process. */
    key_concurrency: integer(1, 1_000_000, { fallback: null }),
    /** Items of responses that clients may name later, per process; 0: none are remembered. */
    conversation_memory: sizeOrNone({ fallback: 64 * 2 ** 20 }),
    /** For how long the leases of a payer in use suffice if the database is unreachable. */
    lease_reserve: duration(0, 3_600_000, { fallback: 60_000 }),
  }).transform((values) => ({
    ...values,
    keyConcurrency: values.keyConcurrency ?? Math.max(1, Math.floor(values.inFlight / 2)),
  })),
  retention: mapping({
    usage: duration(1, longest, { fallback: 400 * day }),
    upstream_state: duration(1, longest, { fallback: 30 * day }),
    /** 0: the texts of errors are not kept at all. */
    error_texts: duration(0, longest, { fallback: 30 * day }),
    audit: duration(day, longest, { fallback: 730 * day }),
  }),
  billing: mapping({
    missing_usage: oneOf(['estimate', 'zero', 'error'], { fallback: 'estimate' }),
    /** Whether a short hold lowers the output limit of its request. */
    cap_output: flag({ fallback: true }),
    /** USD that a stream may cost beyond what is left. */
    overshoot: decimal('an amount in USD', usd, { fallback: '0.05' }),
    /** What nodes may lease ahead of need, of what is left of a limit. */
    lease_share: decimal('a share', share, { fallback: '0.5' }),
    /** After this time without a sign of life of a process, its leases are freed. */
    lease_age: duration(10_000, day, { fallback: 600_000 }),
    /** Teams may have their own. */
    database_away: databaseAway(),
  }),
  metrics: mapping({ token: chosenSecret('a token') }),
  console: mapping({
    enabled: flag({ fallback: true }),
    /** An address of its own, which serves the models too; null: the console is at `server`'s. */
    listen: leaf(
      'host:port, such as 127.0.0.1:8081',
      ({ value }) => (typeof value === 'string' ? (parseHostPort(value) ?? undefined) : undefined),
      { fallback: null },
    ),
    /** Whether people may sign in over a connection that others can read. */
    insecure_http: flag({ fallback: false }),
    /** What people may do who are not administrators. */
    members: mapping({
      create_keys: flag({ fallback: true }),
      /** How many keys each of them may have. */
      max_keys: integer(0, 1_000_000, { fallback: 20 }),
      playground: flag({ fallback: true }),
    }),
  }),
  oidc,
  timeouts,
  video,
} satisfies Record<string, z.ZodType>;

/** The settings under their camelCase names, with units resolved. */
export type Settings = {
  readonly [Section in keyof typeof settings]: Frozen<z.output<(typeof settings)[Section]>>;
};
