import { sql } from 'kysely';
import type { OpenDatabase } from '#database/index.ts';
import { changesChannel, listenTo } from '#database/listening.ts';
import type { Authority, MeterSums, Signs } from './authority.ts';
import type { Command, Reply } from './command.ts';
import { leasesChannel } from './channel.ts';
import { databaseNow } from './database-clock.repository.ts';
import { decide } from './decide.ts';
import { limitOf } from './limits.repository.ts';
import { beginLife } from './lives.repository.ts';
import { leasesOn, unlimited, type Rules } from './rows.ts';
import { readView, writeView, type ReadView } from './view.repository.ts';

/** Another process may change a meter between reading and writing. Each time one of them succeeds. */
const mostTries = 50;

interface LeaseSigns {
  readonly meter: string;
  readonly recall: number;
  readonly called: boolean;
  readonly beyond: boolean;
}

export interface PostgresAuthorityOptions {
  readonly database: Pick<OpenDatabase, 'kysely'>;
  /** The node to which the lives belong. */
  readonly node: string;
  readonly url: string;
  readonly rules: Rules;
}

/** The database as the authority. */
export function createPostgresAuthority({
  database,
  node,
  url,
  rules,
}: PostgresAuthorityOptions): Authority {
  const { kysely } = database;

  async function metersOf({ life, leases, restates }: Command): Promise<string[]> {
    const names = new Set(leases.map(({ meter }) => meter));
    if (restates === 'all') {
      const rows = await kysely
        .selectFrom('leases')
        .select('meter')
        .where('life', '=', life)
        .execute();
      for (const { meter } of rows) names.add(meter);
    }
    return [...names].toSorted();
  }

  async function run(command: Command): Promise<Reply> {
    const meters = await metersOf(command);
    for (let tries = 1; tries <= mostTries; tries += 1) {
      const view = await readView(kysely, command.life, meters);
      if (view === null) continue;
      const reply = await attempt(command, view);
      if (reply !== null) return reply;
    }
    throw new Error('the meters of a command kept changing');
  }

  /** Null if a row has changed since it was read. */
  async function attempt(command: Command, { view, before }: ReadView): Promise<Reply | null> {
    const { generation } = view;
    const answers = new Map<string, number | undefined>();
    for (const meter of before.keys()) {
      answers.set(meter, leasesOn(view, meter).get(command.life)?.answered);
    }
    const reply = decide(view, command, rules);
    if (reply.kind !== 'done') return reply;
    const news = new Set(reply.recalled);
    // Somebody waits for this answer.
    for (const meter of before.keys()) {
      const { ticket } = view.meters.get(meter)!;
      if (ticket === null || ticket.life === command.life) continue;
      if (leasesOn(view, meter).get(command.life)?.answered !== answers.get(meter)) news.add(meter);
    }
    const contents = Array.from(news, (meter) => `${meter} ${view.meters.get(meter)!.recall}`);
    const isWritten = await writeView(kysely, command, view, {
      before,
      contents,
      isNewGeneration: view.generation !== generation,
      channel: leasesChannel,
    });
    return isWritten ? reply : null;
  }

  return {
    begin: (life) => beginLife(database, life, node, rules.ageMs),
    run,
    async look(life, holds): Promise<Signs> {
      const held = JSON.stringify(
        Object.fromEntries(Array.from(holds, ([meter, amount]) => [meter, String(amount)])),
      );
      const { rows } = await sql<{ number: number; closed: number; known: boolean }>`
        update lives set holds = ${held}, seen_at = case
          when closed = 0 and lives.generation = current.number then ${databaseNow} else seen_at end
        from lease_generation as current where id = ${life}
        returning lives.number, closed, lives.generation = current.number as known`.execute(kysely);
      const row = rows[0];
      if (row === undefined || !row.known) {
        const state = row?.closed === 1 ? 'closed' : 'unknown';
        return { state, number: 0, recalls: new Map(), beyond: new Set() };
      }
      const { rows: leases } = await sql<LeaseSigns>`
        select * from (
          select spent_totals.meter, recall, answered <> recall as called,
            spent + leased + held > coalesce(${limitOf}, ${unlimited}) as beyond
          from leases join spent_totals using (meter)
          where life = ${life}
        ) as signs
        where called or beyond`.execute(kysely);
      return {
        state: row.closed === 1 ? 'closed' : 'open',
        number: row.number,
        recalls: new Map(leases.flatMap((one) => (one.called ? [[one.meter, one.recall]] : []))),
        beyond: new Set(leases.flatMap((one) => (one.beyond ? [one.meter] : []))),
      };
    },
    listen: ({ onRecall, onChange }) =>
      listenTo(url, [leasesChannel, changesChannel], (content, of) => {
        if (of !== leasesChannel) onChange();
        const [meter, recall] = content?.split(' ') ?? [];
        if (meter !== undefined && recall !== undefined) onRecall(meter, Number(recall));
      }),
    async recorded(ids) {
      const [rows, tasks] = await Promise.all([
        kysely.selectFrom('usage').select('id').where('id', 'in', ids).execute(),
        kysely.selectFrom('tasks').select('request_id').where('request_id', 'in', ids).execute(),
      ]);
      return new Set([...rows.map(({ id }) => id), ...tasks.map((task) => task.request_id)]);
    },
    async read(meter, life) {
      const { rows } = await sql<MeterSums>`
        select spent, coalesce(settled, 0) as settled, spent_totals.held + coalesce((
          select sum((holds::jsonb ->> spent_totals.meter)::bigint) from lives
          where closed = 0 and id is distinct from ${life}
        ), 0) as held
        from spent_totals left join leases on leases.meter = spent_totals.meter and life = ${life}
        where spent_totals.meter = ${meter}`.execute(kysely);
      return rows[0] ?? { spent: 0n, held: 0n, settled: 0n };
    },
  };
}
