import { sql, type Kysely } from 'kysely';
import pg from 'pg';
import type { Database, OpenDatabase } from '#database/index.ts';
import { changesChannel } from '#database/listening.ts';
import type { Authority, MeterSums, Signs } from './authority.ts';
import type { Command, Reply } from './command.ts';
import { databaseNow, leasesChannel, limitOf } from './expressions.repository.ts';
import { decide } from './decide.ts';
import { groupsOf, narrow, withLeft } from './groups.ts';
import { beginLife } from './lives.repository.ts';
import { leasesOn, unlimited, type Rules } from './rows.ts';
import { lockMeters, readView, writeView } from './view.repository.ts';

/** After so many lost tries a command locks its meters, and cannot lose again. */
const freeTries = 3;
/** Of these, only deadlocks and the like take more than `freeTries`. */
const mostTries = 10;
/** So many commands in a row have left a meter out: it gets one of its own, with a lock. */
const mostLosses = 2;
/** How long a command waits for a row that somebody has locked, before it fails. Milliseconds. */
const lockPatienceMs = 500;
/** Meters whose losses are remembered. */
const mostRemembered = 1_000;

type Tried =
  | { readonly reply: Reply }
  | { readonly lost: ReadonlySet<string> }
  | { readonly error: pg.DatabaseError };

/** A serialization failure or a deadlock: the next try may succeed. */
const isRepeatable = ({ code }: pg.DatabaseError): boolean => code === '40001' || code === '40P01';

const isLockedOut = ({ code }: pg.DatabaseError): boolean => code === '55P03';

/** Whether the rows of the command are the reason, and others would be written. */
function concernsMeters(error: pg.DatabaseError): boolean {
  const { code = '' } = error;
  // By a division by zero `writeView` tells that the life is over.
  return isRepeatable(error) || isLockedOut(error) || (/^2[23]/v.test(code) && code !== '22012');
}

interface LeaseSigns {
  readonly meter: string;
  readonly recall: number;
  readonly called: boolean;
  readonly beyond: boolean;
}

export interface PostgresAuthorityOptions {
  /** PostgreSQL. */
  readonly database: Pick<OpenDatabase, 'kysely' | 'listen'>;
  /** The node to which the lives belong. */
  readonly node: string;
  readonly rules: Rules;
}

/** The database as the authority. */
export function createPostgresAuthority({
  database,
  node,
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

  /** How many commands in a row have left a meter out. */
  const losses = new Map<string, number>();
  const lose = (meters: Iterable<string>, times: number): void => {
    if (losses.size > mostRemembered) losses.clear();
    for (const meter of meters) losses.set(meter, (losses.get(meter) ?? 0) + times);
  };
  const isHot = (group: ReadonlySet<string>): boolean =>
    [...group].some((meter) => (losses.get(meter) ?? 0) >= mostLosses);

  /**
   * Others may change meters of the command between reading and writing, or keep them locked. Then the groups of these
   * meters are left out, and the others go on without them. A group that loses again and again goes alone, with a lock.
   */
  async function run(command: Command): Promise<Reply> {
    // Statements make an earlier command irrelevant, all of it.
    if (command.restates !== 'no') return runWhole(command, await metersOf(command));
    const groups = groupsOf(command);
    const hot = groups.filter(isHot);
    let chosenGroups = hot.length > 0 ? hot : groups;
    let tries = hot.length > 0 ? freeTries : 0;
    let skipsLocked = false;
    for (;;) {
      tries += 1;
      const meters = new Set(chosenGroups.flatMap((group) => [...group]));
      const part = chosenGroups.length === groups.length ? command : narrow(command, meters);
      const isLocking = tries > freeTries;
      const tryResult = await tryOnce(part, [...meters].toSorted(), { isLocking, skipsLocked });
      if ('reply' in tryResult) {
        for (const meter of meters) losses.delete(meter);
        return withLeft(tryResult.reply, command, meters);
      }
      if ('lost' in tryResult) {
        const { lost } = tryResult;
        const isLost = (group: ReadonlySet<string>) => !group.isDisjointFrom(lost);
        const others = chosenGroups.filter((group) => !isLost(group));
        // What is locked is not free the next time either.
        for (const group of chosenGroups.filter(isLost)) lose(group, skipsLocked ? mostLosses : 1);
        if (others.length > 0) chosenGroups = others;
        continue;
      }
      const { error } = tryResult;
      if (isRepeatable(error) && tries < mostTries) continue;
      if (isLockedOut(error) && !isLocking) {
        // Which of them is it?
        skipsLocked = true;
        continue;
      }
      if (!concernsMeters(error)) throw error;
      if (chosenGroups.length === 1) return { kind: 'failed', meters, error };
      chosenGroups = chosenGroups.slice(0, Math.ceil(chosenGroups.length / 2));
    }
  }

  async function runWhole(command: Command, meters: readonly string[]): Promise<Reply> {
    for (let tries = 1; ; tries += 1) {
      const isLocking = tries > freeTries;
      const tryResult = await tryOnce(command, meters, { isLocking, skipsLocked: false });
      if ('reply' in tryResult) return tryResult.reply;
      if ('error' in tryResult && (!isRepeatable(tryResult.error) || tries >= mostTries))
        throw tryResult.error;
    }
  }

  /** @returns the reply, the meters that others have changed, or the error with which the database refused */
  async function tryOnce(
    command: Command,
    meters: readonly string[],
    { isLocking, skipsLocked }: { readonly isLocking: boolean; readonly skipsLocked: boolean },
  ): Promise<Tried> {
    try {
      if (!isLocking) return await attempt(kysely, command, meters, skipsLocked);
      return await kysely.transaction().execute(async (trx) => {
        await lockMeters(trx, meters, lockPatienceMs);
        return attempt(trx, command, meters, false);
      });
    } catch (error) {
      // Anything else leaves open whether it was carried out.
      if (error instanceof pg.DatabaseError) return { error };
      throw error;
    }
  }

  async function attempt(
    db: Kysely<Database>,
    command: Command,
    meters: readonly string[],
    skipsLocked: boolean,
  ): Promise<Tried> {
    const read = await readView(db, command.life, meters);
    if (!('view' in read)) return { lost: read };
    const { view, before } = read;
    const { generation } = view;
    const answers = new Map<string, number | undefined>();
    for (const meter of before.keys()) {
      answers.set(meter, leasesOn(view, meter).get(command.life)?.answered);
    }
    const reply = decide(view, command, rules);
    if (reply.kind !== 'done') return { reply };
    const news = new Set(reply.recalled);
    // Somebody waits for this answer.
    for (const meter of before.keys()) {
      const { ticket } = view.meters.get(meter)!;
      if (ticket === null || ticket.life === command.life) continue;
      if (leasesOn(view, meter).get(command.life)?.answered !== answers.get(meter)) news.add(meter);
    }
    const contents = Array.from(news, (meter) => `${meter} ${view.meters.get(meter)!.recall}`);
    const changedRows = await writeView(db, command, view, {
      before,
      contents,
      isNewGeneration: view.generation !== generation,
      channel: leasesChannel,
      skipsLocked,
    });
    return changedRows.length === 0 ? { reply } : { lost: new Set(changedRows) };
  }

  return {
    begin: (life) => beginLife(database, life, node, rules.ageMs),
    run,
    async look(life, holds): Promise<Signs> {
      const heldAmounts = JSON.stringify(
        Object.fromEntries(Array.from(holds, ([meter, amount]) => [meter, String(amount)])),
      );
      const { rows } = await sql<{ number: number; closed: number; known: boolean }>`
        update lives set holds = ${heldAmounts}, seen_at = case
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
    listen({ onRecall, onChange }) {
      if (database.listen === null) throw new Error('leases need a database with notifications');
      return database.listen([leasesChannel, changesChannel], (content, of) => {
        if (of !== leasesChannel) onChange();
        const [meter, recall] = content?.split(' ') ?? [];
        if (meter !== undefined && recall !== undefined) onRecall(meter, Number(recall));
      });
    },
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
