import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addTables, type Table } from './add-tables.ts';
import { addTriggers } from './triggers.ts';

const ownedColumns = 'enabled created_at updated_at revision';
const tokens = 'input_tokens output_tokens cache_read_tokens cache_write_tokens';
const sums = `requests failed refused ${tokens} cache_write_1h_tokens reasoning_tokens images video_ms video_tokens cost unbilled_tokens`;
const withTeam = ['team_id', 'is not', null] as const;

const latency = (time: string, name: string): Table => ({
  columns: [
    ['integer', time],
    ['text', 'model channel measure'],
    ['integer', 'bucket requests'],
  ],
  key: { [`${name}_pk`]: `${time} model channel measure bucket` },
});

const accounts: Readonly<Record<string, Table>> = {
  /** Counters that tell nodes when something has changed. */
  revisions: {
    columns: [
      ['text', 'name'],
      ['integer', 'value'],
    ],
    key: 'name',
  },
  users: {
    columns: [
      ['text', 'id owner'],
      ['integer', ownedColumns],
      // What the person has chosen in the console is JSON, and so are the groups that they may give their keys.
      ['text', 'email name? role password_hash? preferences? groups=["default"]'],
      ['integer', 'opening_credit quota?'],
    ],
    key: 'id',
    unique: { users_email: 'email' },
    indexes: ['revision'],
  },
  teams: {
    columns: [
      ['text', 'id owner'],
      ['integer', ownedColumns],
      ['text', 'name time_zone groups=["default"]'],
      ['integer', 'opening_credit rpm? budget_daily? budget_monthly? budget_total?'],
      // The budget day that was open when the time zone changed, and the zone in which it ends.
      ['text', 'open_window? open_window_zone?'],
    ],
    key: 'id',
    unique: { teams_name: 'name' },
    indexes: ['revision'],
  },
  team_members: {
    columns: [
      ['text', 'team_id user_id role'],
      ['integer', 'budget? revision'],
    ],
    key: { team_members_pk: 'team_id user_id' },
    references: { team_id: 'teams', user_id: 'users' },
    indexes: ['user_id'],
  },
  keys: {
    columns: [
      ['text', 'id owner'],
      ['integer', ownedColumns],
      ['text', 'name hash? secret_owner? prefix group_name settings user_id team_id?'],
      ['integer', 'quota? expires_at? rpm? rph? max_concurrency? revoked_at?'],
      // The old secret of a rotated key is valid for a while. A session is that of the console which made the key.
      ['text', 'previous_hash? limits_set_by? session_id?'],
      ['integer', 'previous_until?'],
    ],
    key: 'id',
    unique: { keys_hash: 'hash', keys_name: 'name' },
    references: { user_id: 'users', team_id: 'teams' },
    indexes: [
      'revision',
      'user_id',
      'team_id',
      {
        name: 'keys_previous_hash',
        columns: 'previous_hash',
        unique: true,
        where: ['previous_hash', 'is not', null],
      },
    ],
  },
  /** People who have signed in to the console. */
  sessions: {
    columns: [
      ['text', 'id user_id role address? user_agent?'],
      ['integer', 'created_at seen_at'],
    ],
    key: { sessions_pk: 'id' },
    indexes: ['user_id', 'created_at'],
  },
  /** Calls that made a secret and may be repeated without making another. */
  repeatable_calls: {
    columns: [
      ['text', 'user_id name digest object_id'],
      ['integer', 'time'],
    ],
    key: { repeatable_calls_pk: 'user_id name' },
  },
  /** Who changed what. Rows go when they are old, and never change. The entries of one change have one time. */
  audit_log: {
    columns: [
      ['number', 'id'],
      ['integer', 'time'],
      ['text', 'actor_kind actor_id? actor_name address? action object_kind object_id?'],
      ['text', 'object_name changes reason? request_id?'],
    ],
    key: 'id',
    indexes: ['time'],
  },
};

/** Small tables, always read whole. */
const catalogue: Readonly<Record<string, Table>> = {
  groups: {
    columns: [
      ['text', 'name owner'],
      ['integer', ownedColumns],
      ['text', 'price_multiplier'],
    ],
    key: 'name',
  },
  channels: {
    columns: [
      ['text', 'id owner'],
      ['integer', ownedColumns],
      ['text', 'name provider base_url? credentials settings'],
      ['integer', 'priority weight'],
    ],
    key: 'id',
    unique: { channels_name: 'name' },
  },
  models: {
    columns: [
      ['text', 'id owner'],
      ['integer', ownedColumns],
      ['text', 'type settings'],
    ],
    key: 'id',
  },
  aliases: {
    columns: [
      ['text', 'name owner'],
      ['integer', ownedColumns],
      ['text', 'model'],
    ],
    key: 'name',
  },
  /** Every price a model ever had. Rows are only added, because receipts refer to them. */
  price_versions: {
    columns: [
      ['text', 'id model price'],
      ['integer', 'created_at'],
    ],
    key: 'id',
  },
};

const usage: Readonly<Record<string, Table>> = {
  /**
   * One row per exchange. No foreign keys: a row outlives the rows it refers to, and its insertion must never fail.
   * Numbers stand before texts, which may be long.
   */
  usage: {
    columns: [
      ['text', 'id'],
      ['integer', 'time stream status duration_ms ttft_ms? input_tokens cache_read_tokens'],
      ['integer', 'cache_write_tokens cache_write_1h_tokens output_tokens reasoning_tokens cost?'],
      // The identical refusals that the row stands for; what of its charge came after its lease had been freed.
      ['integer', 'held? overshoot? count=1 late?'],
      ['text', 'key_id user_id team_id? group_name model upstream_model? channel? protocol'],
      ['text', 'operation outcome error? client=other payer? price_version? multiplier?'],
      ['text', 'budget_window? posting? usage_source user_agent?'],
      // JSON: whatever is not tokens, the channels that were passed over and why, counters that nothing reads.
      ['text', 'attempts receipt? rewrites losses units? route? usage_unread?'],
    ],
    key: 'id',
    indexes: [
      // In the order in which lists are shown, and with what else they are filtered and counted by.
      {
        name: 'usage_by_time',
        columns: 'time id outcome status client protocol operation duration_ms cost count',
      },
      {
        name: 'usage_unsuccessful',
        columns: 'time id outcome status count',
        where: ['outcome', '<>', 'completed'],
      },
      'key_id time',
      'user_id time',
      'model time',
      { columns: 'team_id time', where: withTeam },
      { columns: 'channel time', where: ['channel', 'is not', null] },
      { columns: 'posting', where: ['posting', 'is not', null] },
    ],
  },
  /** Sums outlive the rows. Absent text is empty here, because it is part of the primary key. */
  usage_hourly: {
    columns: [
      ['integer', 'hour'],
      ['text', 'key_id user_id team_id model channel client'],
      ['integer', sums],
    ],
    key: { usage_hourly_with_client_pk: 'key_id hour model channel client user_id team_id' },
    indexes: ['hour', 'user_id hour', { columns: 'team_id hour', where: ['team_id', '<>', ''] }],
  },
  usage_daily: {
    columns: [
      ['integer', 'day'],
      ['text', 'key_id user_id team_id model channel'],
      ['integer', sums],
    ],
    key: { usage_daily_pk: 'day key_id model channel user_id team_id' },
  },
  usage_hourly_models: {
    columns: [
      ['integer', 'hour'],
      ['text', 'model channel'],
      ['integer', sums],
    ],
    key: { usage_hourly_models_pk: 'hour model channel' },
  },
  latency_hourly: latency('hour', 'latency_hourly'),
  latency_daily: latency('day', 'latency_daily'),
  usage_kinds: {
    columns: [
      ['integer', 'hour status'],
      ['text', 'client protocol operation outcome'],
      ['integer', sums.replaceAll(/\b(?!requests\b|cost\b)\w+/g, '$&=0')],
    ],
    key: { usage_kinds_pk: 'hour client protocol operation outcome status' },
  },
  /** Requests that were being answered by an upstream when the gateway was killed. */
  unfinished_attempts: {
    columns: [
      ['text', 'id key_id user_id team_id? model channel'],
      ['integer', 'attempt time held?'],
    ],
    key: { unfinished_attempts_pk: 'id attempt' },
    indexes: ['time'],
  },
};

const money: Readonly<Record<string, Table>> = {
  /** The books. */
  ledger_entries: {
    columns: [
      ['text', 'transaction_id account kind actor? reason?'],
      ['integer', 'amount time'],
    ],
    key: { ledger_entries_pk: 'transaction_id account' },
    indexes: [
      'account time',
      {
        name: 'ledger_entries_funding',
        columns: 'account amount',
        where: ['kind', '<>', 'usage'],
      },
    ],
  },
  /** What each meter has counted, the credits of its account, and what of it is leased. */
  spent_totals: {
    columns: [
      ['text', 'meter'],
      ['integer', 'spent leased=0 held=0 recall=0 version=0 credited=0'],
      ['text', 'ticket_life? ticket_id? short_life? short_id?'],
      ['integer', 'ticket_until?'],
    ],
    key: { spent_totals_pk: 'meter' },
  },
  removed_usage: {
    columns: [
      ['text', 'name'],
      ['integer', 'cost'],
    ],
    key: { removed_usage_pk: 'name' },
  },
  /** Money that nodes have leased from the limits. */
  leases: {
    columns: [
      ['text', 'meter life'],
      ['integer', 'drawn settled answered'],
    ],
    key: { leases_pk: 'meter life' },
    indexes: ['life meter'],
  },
  lives: {
    columns: [
      ['text', 'id node'],
      // After how long a life is freed; when it was, and what its leases had left.
      ['integer', 'number generation seen_at closed age=600000 freed? freed_at?'],
      // What its requests held at its last sign.
      ['text', 'holds?'],
    ],
    key: { lives_pk: 'id' },
    indexes: ['closed'],
  },
  lease_generation: { columns: [['integer', 'number since']] },
  /** Usage records that were acknowledged and then missing from a node's journal. */
  journal_losses: {
    columns: [
      ['text', 'node reason'],
      ['integer', 'first_record missing found_at acknowledged_at?'],
    ],
    key: { journal_losses_pk: 'node first_record missing' },
  },
};

const nodes: Readonly<Record<string, Table>> = {
  /** Running nodes, and nodes that were last seen with a journal that was not empty. */
  nodes: {
    columns: [
      ['text', 'id'],
      ['integer', 'started_at seen_at journal_depth'],
    ],
    key: { nodes_pk: 'id' },
  },
  /** Which master key the database belongs to. At most one row: `id` is always `master`. */
  master_key: { columns: [['text', 'id fingerprint']], key: { master_key_pk: 'id' } },
  /** Which configuration files were in force, and which node has had which of them. */
  file_revisions: {
    columns: [
      ['text', 'fingerprint node'],
      ['integer', 'number time'],
    ],
    key: { file_revisions_pk: 'fingerprint node' },
  },
  /** Which owner received which upstream id. */
  upstream_state: {
    columns: [
      ['text', 'id owner kind channel credential? model'],
      ['integer', 'expires_at'],
    ],
    key: { upstream_state_pk: 'id owner' },
    indexes: ['expires_at'],
  },
  /** Video tasks, from their submit until some days after their end. */
  tasks: {
    columns: [
      ['text', 'id protocol request_id key_id user_id team_id? group_name user_agent? model'],
      ['text', 'demand asked terms? state failure? members upstream_id? channel? channel_id?'],
      ['text', 'upstream_model? access? attempts lease_owner?'],
      ['integer', 'time held? quantity? created_at accepted_at? looked_at? updated_at ended_at?'],
      ['integer', 'due_at? lease_until? fence failed_looks late_looks lost_quantity? hidden'],
    ],
    key: { tasks_pk: 'id' },
    unique: { tasks_of_requests: 'request_id' },
    indexes: ['due_at', 'user_id protocol created_at id', 'ended_at', 'lease_owner'],
  },
  /** Copies of what tasks made. */
  task_results: {
    columns: [
      ['text', 'task files lease_owner?'],
      ['integer', 'created_at due_at lease_until? fence tries expires_at?'],
    ],
    key: { task_results_pk: 'task' },
    indexes: ['due_at', 'lease_owner'],
  },
};

/** All tables of the first release. */
export function tables(dialect: 'sqlite' | 'postgres'): Migration {
  return {
    async up(db: Kysely<unknown>) {
      const all = { ...accounts, ...catalogue, ...usage, ...money, ...nodes };
      await addTables(db, dialect, all);
      await addTriggers(db, dialect);
      await sql`insert into revisions (name, value) values ('global', 1)`.execute(db);
      await sql`insert into lease_generation (number, since) values (0, 0)`.execute(db);
    },
  };
}
