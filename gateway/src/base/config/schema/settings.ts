import { z } from 'zod';
import { distinctList, mapping } from '../collection.ts';
import {
  type LeafOptions,
  WrongBecause,
  decimal,
  duration,
  flag,
  integer,
  leaf,
  longestTimer,
  oneOf,
  size,
  sizeOrNone,
  string,
} from '../leaf.ts';
import {
  isAddressRange,
  isHost,
  isRedisUrl,
  isResultStorageUrl,
  isStorageUrl,
  parseHostPort,
  parseHttpUrl,
  trimUrl,
} from '../network.ts';
import { isSampleSecret } from '../secret-rules.ts';

const day = 86_400_000;
const longest = 36_500 * day;

export const emailAddress = <const Options extends LeafOptions = {}>(options?: Options) =>
  leaf(
    'an e-mail address',
    ({ value }) => (typeof value === 'string' && isEmail(value) ? value.toLowerCase() : undefined),
    options,
  );

/** Addresses are compared in lower case, as people expect. */
export function isEmail(text: string): boolean {
  return text.length <= 254 && /^[^\s@"<>]+@[^\s@"<>]+$/.test(text);
}

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
  port: integer(0, 65_535, { fallback: 8080 }),
  public_url: httpUrl('https://ai.example.com'),
  cors_origins: distinctList(
    string('an origin such as https://app.example.com, or *', isOrigin),
    () => ['*'],
  ),
  trusted_proxies: distinctList(addressRange(), () => []),
  body_limit: size({ fallback: 64 * 2 ** 20 }),
  tls: mapping({ cert: filePath(), key: filePath() }),
  drain_timeout: duration(0, longestTimer, { fallback: 60_000 }),
  workers: integer(1, 256, { fallback: 1 }),
}).transform(
  ({ public_url, cors_origins, trusted_proxies, body_limit, drain_timeout, ...rest }) => ({
    ...rest,
    publicUrl: public_url,
    corsOrigins: cors_origins,
    trustedProxies: trusted_proxies,
    bodyLimit: body_limit,
    drainTimeout: drain_timeout,
  }),
);

/** As browsers send it: without a path, and without a port that is the usual one. */
function isOrigin(text: string): boolean {
  return text === '*' || (/^https?:[^*]+$/.test(text) && URL.parse(text)?.origin === text);
}

/** Amounts are kept as integers of 10⁻⁹ USD. */
const share = { places: 3, minimum: '0', maximum: '1' };
export const usd = { places: 9, minimum: '0', maximum: '1000000000' };

/** An address, or a range in CIDR notation. */
export function addressRange() {
  return string('an address or a range such as 10.0.0.0/8', isAddressRange);
}

/** The parts of `timeouts`, as defaults of the gateway or as overrides of a channel. */
const timeoutDefaults = {
  connect: 3_000,
  first_byte: 120_000,
  image_first_byte: 300_000,
  stream_idle: 120_000,
  total: 1_800_000,
  keepalive_comment: 15_000,
};

const timeouts = mapping({
  connect: timer(timeoutDefaults.connect),
  first_byte: timer(timeoutDefaults.first_byte),
  image_first_byte: timer(timeoutDefaults.image_first_byte),
  stream_idle: timer(timeoutDefaults.stream_idle),
  total: timer(timeoutDefaults.total),
  keepalive_comment: timer(timeoutDefaults.keepalive_comment),
}).transform((values) => ({
  connect: values.connect,
  firstByte: values.first_byte,
  imageFirstByte: values.image_first_byte,
  streamIdle: values.stream_idle,
  total: values.total,
  keepaliveComment: values.keepalive_comment,
}));

export const channelTimeouts = mapping({
  connect: timer(null),
  first_byte: timer(null),
  image_first_byte: timer(null),
  stream_idle: timer(null),
  total: timer(null),
  keepalive_comment: timer(null),
}).transform((values) => ({
  ...(values.connect === null ? {} : { connect: values.connect }),
  ...(values.first_byte === null ? {} : { firstByte: values.first_byte }),
  ...(values.image_first_byte === null ? {} : { imageFirstByte: values.image_first_byte }),
  ...(values.stream_idle === null ? {} : { streamIdle: values.stream_idle }),
  ...(values.total === null ? {} : { total: values.total }),
  ...(values.keepalive_comment === null ? {} : { keepaliveComment: values.keepalive_comment }),
}));

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
    endpoint: httpUrl('https://s3.example.com'),
    region: string('a region such as eu-central-1', (text) => /^[\w-]+$/.test(text), {
      fallback: 'us-east-1',
    }),
    access_key_id: string('an access key', (text) => /^\S+$/.test(text), { fallback: null }),
    secret_access_key: string('a secret key', (text) => /^\S+$/.test(text), {
      fallback: null,
      secret: true,
    }),
  }).transform(({ endpoint, region, access_key_id, secret_access_key }) => ({
    endpoint,
    region,
    accessKeyId: access_key_id,
    secretAccessKey: secret_access_key,
  })),
}).transform((values) => ({
  pollInterval: values.poll_interval,
  expireAfter: values.expire_after,
  checkAudio: values.check_audio,
  keepResults: values.keep_results,
  storageUrl: values.storage_url,
  s3: values.s3,
}));

/** Every section that is not a list of rows, by its key in the file. */
export const settings = {
  server,
  storage: mapping({
    url: string('sqlite:<file> or postgres://user:password@host/database', isStorageUrl, {
      fallback: 'sqlite:./data/sluice.db',
      secret: true,
    }),
    data_dir: string('a folder', (text) => !text.includes('\0'), { fallback: './data' }),
  }).transform(({ url, data_dir }) => ({ url, dataDir: data_dir })),
  redis: mapping({
    url: string('redis://host:6379 or rediss://…', isRedisUrl, { fallback: null, secret: true }),
  }),
  secrets: mapping({ master_key: masterKey }).transform((values) => ({
    masterKey: values.master_key,
  })),
  admin: mapping({
    email: emailAddress({ fallback: 'admin@localhost' }),
    password: chosenSecret('a password'),
  }),
  journal: mapping({
    max_size: size({ fallback: 4 * 2 ** 30 }),
    replay: duration(60_000, longest, { fallback: 600_000 }),
  }).transform((values) => ({ maxSize: values.max_size, replay: values.replay })),
  limits: mapping({
    in_flight: integer(1, 1_000_000, { fallback: 5000 }),
    queue: integer(0, 1_000_000, { fallback: 500 }),
    body_memory: size({ fallback: null }),
    spool: size({ fallback: 4 * 2 ** 30 }),
    key_concurrency: integer(1, 1_000_000, { fallback: null }),
    conversation_memory: sizeOrNone({ fallback: 64 * 2 ** 20 }),
  }).transform(
    ({ in_flight, queue, body_memory, spool, key_concurrency, conversation_memory }) => ({
      inFlight: in_flight,
      queue,
      bodyMemory: body_memory,
      spool,
      keyConcurrency: key_concurrency ?? Math.max(1, Math.floor(in_flight / 2)),
      conversationMemory: conversation_memory,
    }),
  ),
  retention: mapping({
    usage: duration(1, longest, { fallback: 400 * day }),
    upstream_state: duration(1, longest, { fallback: 30 * day }),
    audit: duration(day, longest, { fallback: 730 * day }),
  }).transform(({ usage, upstream_state, audit }) => ({
    usage,
    upstreamState: upstream_state,
    audit,
  })),
  billing: mapping({
    missing_usage: oneOf(['estimate', 'zero', 'error'], { fallback: 'estimate' }),
    cap_output: flag({ fallback: true }),
    overshoot: decimal('an amount in USD', usd, { fallback: '0.05' }),
    lease_share: decimal('a share', share, { fallback: '0.5' }),
    lease_age: duration(10_000, day, { fallback: 600_000 }),
  }).transform(({ missing_usage, cap_output, overshoot, lease_share, lease_age }) => ({
    missingUsage: missing_usage,
    capOutput: cap_output,
    overshoot,
    leaseShare: lease_share,
    leaseAge: lease_age,
  })),
  metrics: mapping({ token: chosenSecret('a token') }),
  console: mapping({
    enabled: flag({ fallback: true }),
    listen: leaf(
      'host:port, such as 127.0.0.1:8081',
      ({ value }) => (typeof value === 'string' ? (parseHostPort(value) ?? undefined) : undefined),
      { fallback: null },
    ),
    insecure_http: flag({ fallback: false }),
    members: mapping({
      create_keys: flag({ fallback: true }),
      max_keys: integer(0, 1_000_000, { fallback: 20 }),
      playground: flag({ fallback: true }),
    }).transform(({ create_keys, max_keys, playground }) => ({
      createKeys: create_keys,
      maxKeys: max_keys,
      playground,
    })),
  }).transform(({ enabled, listen, insecure_http, members }) => ({
    enabled,
    listen,
    insecureHttp: insecure_http,
    members,
  })),
  timeouts,
  video,
} satisfies Record<string, z.ZodType>;
