import type { Generated } from 'kysely';
import type { ColumnsOf, kinds } from '#config/index.ts';

/**
 * The tables, as Kysely sees them. One schema for SQLite and PostgreSQL, so it uses only what both have:
 *
 * - money is nano-USD (10⁻⁹ USD) in a 64-bit integer, read as `bigint`;
 * - times are Unix milliseconds in a 64-bit integer, read as `number`;
 * - booleans are 0 or 1; structured columns are JSON text;
 * - `revision` is the value of the `revisions` counter when the row last changed: a node loads the rows above the
 *   highest revision it has seen.
 */
export interface Database {
  groups: GroupTable;
  channels: ChannelTable;
  models: ModelTable;
  aliases: AliasTable;
  users: UserTable;
  teams: TeamTable;
  team_members: TeamMemberTable;
  keys: KeyTable;
  revisions: RevisionTable;
  usage: UsageTable;
  price_versions: PriceVersionTable;
  usage_hourly: UsageHourlyTable;
  usage_hourly_models: UsageHourlyModelTable;
  usage_daily: UsageDailyTable;
  latency_hourly: LatencyHourlyTable;
  latency_daily: LatencyDailyTable;
  usage_kinds: UsageKindTable;
  attempts_hourly: AttemptsHourlyTable;
  usage_errors: UsageErrorTable;
  ledger_entries: LedgerEntryTable;
  spent_totals: SpentTotalTable;
  leases: LeaseTable;
  lives: LifeTable;
  lease_generation: LeaseGenerationTable;
  removed_usage: RemovedUsageTable;
  nodes: NodeTable;
  master_key: MasterKeyTable;
  upstream_state: UpstreamStateTable;
  journal_losses: JournalLossTable;
  unfinished_attempts: UnfinishedAttemptTable;
  tasks: TaskTable;
  task_results: TaskResultTable;
  sessions: SessionTable;
  admin_keys: AdminKeyTable;
  audit_log: AuditTable;
  repeatable_calls: RepeatableCallTable;
  file_revisions: FileRevisionTable;
  identities: IdentityTable;
  finished_sign_ins: FinishedSignInTable;
  second_factors: SecondFactorTable;
  recovery_codes: RecoveryCodeTable;
}

/** `file`: declared in the configuration file and read-only elsewhere. `console`: created by a person or a command. */
export type Owner = 'file' | 'console' | 'system';

interface Owned {
  owner: Owner;
  /** 0 or 1. */
  enabled: number;
  created_at: number;
  updated_at: number;
  revision: number;
}

/** Columns of members are named by the descriptions of the kinds; here stand those that the database adds. */
type Columns<Name extends keyof typeof kinds> = ColumnsOf<(typeof kinds)[Name]>;

export interface GroupTable extends Owned, Columns<'group'> {}
export interface AliasTable extends Owned, Columns<'alias'> {}

export interface ChannelTable extends Owned, Columns<'channel'> {
  /** `ch_` + random. */
  id: string;
  /** JSON of the sealed members, sealed (see `database/secrets`); never plain text. */
  credentials: string;
  /** When its pauses were last ended, Unix milliseconds; null: never. */
  reset_at: Generated<number | null>;
  /** JSON. */
  settings: string;
}

export interface ModelTable extends Owned, Columns<'model'> {
  /** JSON. */
  settings: string;
}

export interface UserTable extends Owned, Columns<'user'> {
  /** `usr_` + random. */
  id: string;
  /** scrypt, self-describing; null: no console login. */
  password_hash: string | null;
  /** JSON: `Preferences` of identity. Null: nothing was chosen. */
  preferences: string | null;
  /** SHA-256 in hex of the token with which the person sets a first password, until then; null: not invited. */
  invite_hash: Generated<string | null>;
  /** Unix milliseconds. */
  invited_until: Generated<number | null>;
}

export interface TeamTable extends Owned, Columns<'team'> {
  /** `team_` + random. */
  id: string;
  budget_daily: bigint | null;
  budget_monthly: bigint | null;
  budget_total: bigint | null;
  unleased_most: bigint | null;
  time_zone: string;
  /** The budget window that was open when the time zone last changed, and the zone in which that window ends. */
  open_window: string | null;
  open_window_zone: string | null;
}

export interface TeamMemberTable {
  team_id: string;
  user_id: string;
  role: string;
  budget: bigint | null;
  revision: number;
}

export interface KeyTable extends Owned, Columns<'key'> {
  /** `key_` + random. */
  id: string;
  /** Hex HMAC-SHA-256 of the secret; unique; null while a declared key has no secret. */
  hash: string | null;
  /** Who set the secret: a key declared without a secret gets it from a command. Null while there is none. */
  secret_owner: Owner | null;
  /**
   * The displayable part of the secret: `sk-` and the first characters, `…`, the last four; empty while there is none.
   */
  prefix: string;
  user_id: string;
  team_id: string | null;
  /** JSON. */
  settings: string;
  revoked_at: number | null;
  /** The hash of the secret before the last rotation; valid until `previous_until`. Null: none. */
  previous_hash: string | null;
  /** Unix milliseconds. */
  previous_until: number | null;
  /** JSON of `LimitSetters`. */
  limits_set_by: Generated<string | null>;
  /** The session in the console that the key belongs to and ends with; null for every other key. */
  session_id: string | null;
}

/** Rows are only added. */
export interface PriceVersionTable {
  /** 16 hex digits derived from model and price, so that all nodes compute the same id. */
  id: string;
  model: string;
  /** JSON: `DeclaredPrice` in its normal form. */
  price: string;
  created_at: number;
}

export interface RevisionTable {
  /**
   * `global`: the revision. `usage-removed-before`: Unix milliseconds; rows of `usage` before it may have been removed,
   * so sums over an earlier range are incomplete.
   */
  name: string;
  value: number;
}

/** One row per exchange; see `usage/record.ts` for the meaning of each part. */
export interface UsageTable {
  id: string;
  time: number;
  key_id: string;
  user_id: string;
  team_id: string | null;
  group_name: string;
  model: string;
  upstream_model: string | null;
  channel: string | null;
  protocol: string;
  operation: string;
  stream: number;
  outcome: string;
  status: number;
  error: string | null;
  /** JSON array of `AttemptRecord`. */
  attempts: string;
  input_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  cache_write_1h_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  /** `reported`, `estimated`, `quarantined` or `none`. */
  usage_source: string;
  /** Nano-USD; null if nothing was charged. Then the following columns down to `posting` are null too. */
  cost: bigint | null;
  /** JSON array of `ReceiptItem`. */
  receipt: string | null;
  /** `user` or `team`. */
  payer: string | null;
  held: bigint | null;
  overshoot: bigint | null;
  price_version: string | null;
  /** Decimal string. */
  multiplier: string | null;
  /** The date of admission in the team's time zone; null when a user pays. */
  budget_window: string | null;
  /** The ledger transaction that contains this cost; null for a cost of 0 too. */
  posting: string | null;
  ttft_ms: number | null;
  duration_ms: number;
  /** JSON array of rewrite ids. */
  rewrites: string;
  /** JSON array of conversion losses. */
  losses: string;
  /** JSON array of the channels that were passed over (`PassedOver`); null: none. */
  route: string | null;
  /** JSON array of the counters in the upstream's usage that nothing reads (paths of members); null: none. */
  usage_unread: string | null;
  user_agent: string | null;
  /** The number of identical refusals that the row stands for; 1 for every other row. */
  count: number;
  /** JSON object of `UnitsRecord`; null for exchanges that consist of tokens alone. */
  units: string | null;
  /** Nano-USD: the part of the cost whose lease had been freed before the row came, if any. */
  late: bigint | null;
  /** The family that the user agent belongs to, such as `claude-code`; `other` for all that are not known. */
  client: string;
}

/** Hourly sums of usage rows. */
export interface UsageHourlyTable {
  /** Start of the hour in Unix milliseconds. */
  hour: number;
  key_id: string;
  user_id: string;
  /** Empty: no team. */
  team_id: string;
  /** As clients wrote it; empty for requests that were refused before an upstream was called. */
  model: string;
  /** The channel that responded; empty: none did. */
  channel: string;
  /** The family of clients; see `usage/client-family.ts`. */
  client: string;
  requests: number;
  /** How many of them failed or were refused. */
  failed: number;
  /** How many of them were refused. */
  refused: number;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  cache_write_1h_tokens: number;
  reasoning_tokens: number;
  /** Images, without their layers. */
  images: number;
  /** Milliseconds of videos that are charged by time. */
  video_ms: number;
  /** Tokens of videos that are charged by them. */
  video_tokens: number;
  cost: bigint;
  /** Tokens that the channel reported for failed attempts; only the operator pays for them. */
  unbilled_tokens: number;
  /** Attempts at the channel, whichever channel responded in the end; before they were counted, 0. */
  attempts: number;
  /** How many of them failed. */
  failed_attempts: number;
}

/** The same by the hour without persons: there are few of them, whoever asks. */
export type UsageHourlyModelTable = Omit<
  UsageHourlyTable,
  'key_id' | 'user_id' | 'team_id' | 'client'
>;

/** The same without clients, by the day in UTC. */
export interface UsageDailyTable extends Omit<UsageHourlyTable, 'hour' | 'client'> {
  /** Start of the day in Unix milliseconds. */
  day: number;
}

/** How long completed requests took; see `usage/latency-buckets.ts`. */
export interface LatencyHourlyTable {
  /** Start of the hour in Unix milliseconds. */
  hour: number;
  model: string;
  channel: string;
  measure: 'first_token' | 'duration';
  bucket: number;
  requests: number;
}

/** The same by the day in UTC. */
export interface LatencyDailyTable extends Omit<LatencyHourlyTable, 'hour'> {
  /** Start of the day in Unix milliseconds. */
  day: number;
}

/** The same of each kind of requests, whoever sent them and to whichever model. */
export interface UsageKindTable extends Omit<UsageHourlyModelTable, 'model' | 'channel'> {
  client: string;
  protocol: string;
  operation: string;
  outcome: string;
  status: number;
}

/** What became of attempts, by the hour in which their requests arrived. */
export interface AttemptsHourlyTable {
  /** Start of the hour in Unix milliseconds. */
  hour: number;
  channel: string;
  /** As clients wrote it. */
  model: string;
  /** `undecided`: it says nothing about the channel, such as a fault of the request. */
  outcome: 'answered' | 'failed' | 'undecided';
  /** The word of the failure; empty: there was none. */
  error: string;
  attempts: number;
  /** The sum of their durations in milliseconds. */
  duration_ms: number;
  /** How many of them streamed a first token, and the sum of the milliseconds until then. */
  first_tokens: number;
  first_token_ms: number;
  /** The end of the last one, in Unix milliseconds. */
  last_at: number;
}

/** What went wrong in a request: in an attempt, or for the client. */
export interface UsageErrorTable {
  /** That of the usage row. */
  id: string;
  /** Counted from 1; 0: the error that the client got. */
  attempt: number;
  /** Unix milliseconds. */
  time: number;
  /** The channel of the attempt; null for the client's error. */
  channel: string | null;
  /** The word of the failure, or the name of the client's error. */
  error: string;
  /** See `AttemptRecord`; null: not the channel's failure. */
  blame: string | null;
  status: number | null;
  /** The upstream's words, cleaned, or the client's message; null: none, or no longer kept. */
  text: string | null;
}

/** One side of a transaction. The amounts of a transaction add up to 0. Rows are never changed or removed. */
export interface LedgerEntryTable {
  transaction_id: string;
  /** See `ledger/accounts.ts`. */
  account: string;
  /** Nano-USD, positive to the account's credit. */
  amount: bigint;
  /** See `ledger/accounts.ts`. */
  kind: string;
  /** Who made the entry; null for `usage`. */
  actor: string | null;
  reason: string | null;
  /** Unix milliseconds. */
  time: number;
}

/** The total spent on each meter (see `limits/money.ts`) since it began. */
export interface SpentTotalTable {
  meter: string;
  spent: bigint;
  /** For a balance: the sum of all credits in the ledger, which the database keeps itself. */
  credited: bigint;
  /** The sum of what its leases have left. */
  leased: bigint;
  /** Held by tasks that outlive processes. */
  held: bigint;
  /** How often idle money was called back. */
  recall: number;
  /** Grows with every change of the row or of its leases that does not come from a usage record. */
  version: number;
  /** The request that draws first, and until when by the clock of the database. Null: none. */
  ticket_life: string | null;
  ticket_id: string | null;
  ticket_until: number | null;
  /** The request whose hold is smaller than what it may cost. Null: none. */
  short_life: string | null;
  short_id: string | null;
}

/** What one life of a node has drawn on one meter. */
export interface LeaseTable {
  meter: string;
  life: string;
  drawn: bigint;
  settled: bigint;
  /** The last recall after which nothing was idle. */
  answered: number;
}

/** One row per process that leases money, also after it has ended. */
export interface LifeTable {
  /** `life_` + random. */
  id: string;
  /** `node_` + random, kept in its data folder. */
  node: string;
  /** Of its last command. */
  number: number;
  generation: number;
  /** The last sign of life, by the clock of the database. */
  seen_at: number;
  /** 0 or 1. */
  closed: number;
  /** After this silence it is closed. Milliseconds. */
  age: number;
  /** What its leases of balances had left when it was closed for its silence, until its records are in the database. */
  freed: bigint | null;
  /** By the clock of the database. */
  freed_at: number | null;
  /** JSON: what its requests under way held on each meter at its last look, in decimal digits of nano-USD. */
  holds: string | null;
}

/** One row. */
export interface LeaseGenerationTable {
  /** Grows when the database turns out to have gone back in time. */
  number: number;
  /** When it grew, by the clock of the database. */
  since: number;
}

/** The cost of usage rows that retention removed, so that the books can still be checked against the remaining rows. */
export interface RemovedUsageTable {
  /** A meter, or `<posting> <account>`. */
  name: string;
  cost: bigint;
}

/** One row per process that is running, or that ended without signing off. */
export interface NodeTable {
  /** `node_` + random, kept in its data folder. */
  id: string;
  started_at: number;
  /** The last heartbeat, by the clock of the database. */
  seen_at: number;
  /** Usage records in its journal at that time. */
  journal_depth: number;
  /** JSON: `NodeState` at that time; null: it has not begun to serve, or its version has none. */
  state: Generated<string | null>;
}

/** Usage records that a node had acknowledged and that were missing from its journal. */
export interface JournalLossTable {
  /** The node's id. */
  node: string;
  /** The sequence number of the first one in that journal. */
  first_record: number;
  missing: number;
  /** `damaged` or `missing`. */
  reason: string;
  /** Unix milliseconds. */
  found_at: number;
  /** Unix milliseconds; null: the operator has not taken note of it. */
  acknowledged_at: Generated<number | null>;
}

/** Attempts under way when the gateway was killed: their upstreams may bill them, and nobody was charged. */
export interface UnfinishedAttemptTable {
  /** The `x-request-id`. */
  id: string;
  /** Its number within the exchange, from 1. */
  attempt: number;
  /** Unix milliseconds. */
  time: number;
  key_id: string;
  user_id: string;
  team_id: string | null;
  model: string;
  /** The channel's name. */
  channel: string;
  /** Nano-USD, the most that the exchange could cost; null: nothing was to be charged. */
  held: bigint | null;
}

/** One row per video task, until some days after its end. See `tasks/` for how it changes. */
export interface TaskTable {
  /** Ours, as its client knows it. */
  id: string;
  /** `video-synthesis` or `video-contents`. */
  protocol: string;
  /** The `x-request-id` of the submit, and the id of the usage row. Unique. */
  request_id: string;
  /** When the submit arrived: the time of the usage row. */
  time: number;
  key_id: string;
  /** Whose task it is, whatever key or team it was submitted with. */
  user_id: string;
  team_id: string | null;
  group_name: string;
  user_agent: string | null;
  /** As the client wrote it. */
  model: string;
  /** JSON of `VideoDemand`. */
  demand: string;
  /** JSON of `TaskMembers`: what the request asked for besides. */
  asked: string;
  /** JSON of `TaskTerms`: its price and its payer; null: it is free. */
  terms: string | null;
  /** Nano-USD that its meters hold until its end; null: it is free. */
  held: bigint | null;
  /** See `TaskState`. */
  state: string;
  /** JSON of `TaskFailure`; null: it has not failed. */
  failure: string | null;
  /** JSON of `TaskMembers`: what the upstream said at the last look. */
  members: string;
  /** What was charged for, in milliseconds or tokens; null: nothing. */
  quantity: number | null;
  /** Unique per channel only; null: no upstream has accepted it. */
  upstream_id: string | null;
  /** Name and id of the channel that accepted it. */
  channel: string | null;
  channel_id: string | null;
  upstream_model: string | null;
  /** Sealed JSON: the address and the credential of the submit, for looks. Null: none has accepted it. */
  access: string | null;
  /** JSON array of `AttemptRecord`. */
  attempts: string;
  created_at: number;
  /** When an upstream had accepted it. */
  accepted_at: number | null;
  /** The last look that was answered. */
  looked_at: number | null;
  /** The last change that its owner can see. */
  updated_at: number;
  ended_at: number | null;
  /** When it is to be looked at next; null: never. */
  due_at: number | null;
  /** The node that submits or looks at it; null: none. */
  lease_owner: string | null;
  /** When that ends, by the clock of the database. */
  lease_until: number | null;
  /** Rises with each lease; who writes under an earlier one changes nothing. */
  fence: number;
  /** Looks that failed since the last one that was answered. */
  failed_looks: number;
  /** Looks after it had expired. */
  late_looks: number;
  /** What an upstream made after the task had expired, which only the operator pays for; null: nothing. */
  lost_quantity: number | null;
  /** 0 or 1: its owner has removed it from his list. */
  hidden: number;
}

/** One row per finished task whose files are copied, until the copies are removed. */
export interface TaskResultTable {
  /** Ours, as in `tasks`, whose row may go earlier. */
  task: string;
  created_at: number;
  /** When it is to be copied, or the copies to be removed. */
  due_at: number;
  /** The node that does so; null: none. */
  lease_owner: string | null;
  /** When that ends, by the clock of the database. */
  lease_until: number | null;
  /** Rises with each lease. */
  fence: number;
  /** Tries that failed. */
  tries: number;
  /** JSON array of `KeptFile`: what has been copied. */
  files: string;
  /** When the links to the copies end; null: not all are copied yet. */
  expires_at: number | null;
}

/** One row per person and browser that is signed in to the console. */
export interface SessionTable {
  /** Hex SHA-256 of the secret in the browser's cookie. */
  id: string;
  user_id: string;
  /** The person's role at sign-in: the session ends when it changes. */
  role: string;
  /** Where the person signed in. */
  address: string | null;
  user_agent: string | null;
  created_at: number;
  /** The last request, to within a minute. */
  seen_at: number;
}

export interface AdminKeyTable {
  /** `adm_` + random. */
  id: string;
  /** Of the keys that are neither revoked nor expired, each has another one. */
  name: string;
  /** Hex HMAC-SHA-256 of the secret. */
  hash: string;
  /** The displayable part of the secret. */
  prefix: string;
  role: string;
  /** JSON: addresses and networks. */
  ips: string;
  /** The id of a person; null: a command made it. */
  created_by: string | null;
  created_at: number;
  expires_at: number;
  /** To within a minute. */
  last_used_at: number | null;
  revoked_at: number | null;
  last_used_address: string | null;
}

/** Who somebody is at a provider of OpenID Connect. */
export interface IdentityTable {
  issuer: string;
  /** The provider's name for the person, which never changes. */
  subject: string;
  user_id: string;
  created_at: number;
}

/** A sign-in at a provider that has come back: it comes back once. */
export interface FinishedSignInTable {
  /** SHA-256 in hex of its `state`. */
  id: string;
  /** From then on its cookie is too old anyway. Unix milliseconds. */
  expires_at: number;
}

/** What makes the codes of a person's second factor. */
export interface SecondFactorTable {
  user_id: string;
  /** Sealed, base32. */
  secret: string;
  /** When the person has shown a code of it; null: it is not in force yet. */
  confirmed_at: number | null;
  /** The step of the last code: it is not accepted twice. */
  last_step: Generated<number>;
  created_at: number;
}

/** What replaces a code of the second factor, once. */
export interface RecoveryCodeTable {
  user_id: string;
  /** Keyed. */
  hash: string;
}

/** A call that made a secret, for a day: repeated, it makes no other one. */
export interface RepeatableCallTable {
  user_id: string;
  /** The caller's name for it. */
  name: string;
  /** Of what was asked for. */
  digest: string;
  /** What it made. */
  object_id: string;
  time: number;
}

/** What somebody did. Append-only. */
export interface AuditTable {
  id: Generated<number>;
  time: number;
  /** `person`, `command`, `file` or `system`. */
  actor_kind: string;
  /** Of a person; of a command or the file, the user of the machine whose process it was. Null: unknown. */
  actor_id: string | null;
  actor_name: string;
  /** Where the person was. */
  address: string | null;
  /** Such as `key.rotate`. */
  action: string;
  object_kind: string;
  object_id: string | null;
  object_name: string;
  /** JSON of `AuditChange[]`. */
  changes: string;
  reason: string | null;
  /** The `x-request-id` of the call to the console's API. */
  request_id: string | null;
}

/** At most one row. */
export interface MasterKeyTable {
  /** `master`. */
  id: string;
  /** `Secrets.fingerprint` of the key that the database belongs to. */
  fingerprint: string;
}

/** A node that has put a configuration file into force, or has had the file in force. */
export interface FileRevisionTable {
  /** `Secrets.digestState` of the file's lists. */
  fingerprint: string;
  node: string;
  /** Counts the files that came into force: the highest one is. */
  number: number;
  /** Unix milliseconds. */
  time: number;
}

/** Which owner received which upstream id. Holds digests only, so nobody can learn an id from this table. */
export interface UpstreamStateTable {
  /** `Secrets.digestState` of the id. */
  id: string;
  /** The same digest of the owner. Two upstreams may give the same id to two owners. */
  owner: string;
  /** `response`, `item`, `conversation`, … (see `protocols/named-state.ts`). */
  kind: string;
  /** The id of the channel that responded. */
  channel: string;
  /** The same digest of the credential used; null without one. */
  credential: string | null;
  /** As the client wrote it. */
  model: string;
  /** Unix milliseconds. */
  expires_at: number;
}
