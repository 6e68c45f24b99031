import { z } from 'zod';
import { list, mapping } from '../collection.ts';
import { databaseAway, writeDatabaseAway } from '../database-away.ts';
import { emailAddress, flag, isTimeZone, name, oneOf, string } from '../leaf.ts';
import { isAbsent } from '../scalar.ts';
import {
  amount,
  defineKind,
  groups,
  member,
  rate,
  shortestAmount,
  structure,
  text,
  withoutAbsent,
  yesOrNo,
} from './kind.ts';

const usd = () => amount(null).schema;

const budget = structure(mapping({ daily: usd(), monthly: usd(), total: usd() }), {
  write: withoutAbsent,
  compare: ({ daily, monthly, total }: Record<'daily' | 'monthly' | 'total', string | null>) => ({
    daily: shortestAmount(daily),
    monthly: shortestAmount(monthly),
    total: shortestAmount(total),
  }),
});

interface Away {
  readonly upTo: string;
}

const away = structure(
  z
    .preprocess((input) => (isAbsent(input) ? undefined : input), databaseAway().optional())
    .transform((value) => value ?? null),
  {
    write: (value: Away | null) => value && writeDatabaseAway(value),
    compare: (value: Away | null) => value && { up_to: shortestAmount(value.upTo) },
  },
);

interface TeamMember {
  readonly user: string;
  readonly role: 'owner' | 'member';
  readonly budget: string | null;
}

const members = structure(
  list(
    mapping({
      user: emailAddress(),
      role: oneOf(['owner', 'member'], { fallback: 'member' }),
      budget: usd(),
    }),
    () => [],
  ),
  {
    write: (all: readonly TeamMember[]) => all.map(withoutAbsent),
    compare: (all: readonly TeamMember[]) =>
      all
        .map(({ user, role, budget: most }) => ({ user, role, budget: shortestAmount(most) }))
        .toSorted((a, b) => (a.user < b.user ? -1 : 1)),
  },
);

export const team = defineKind('team', {
  name: member(text(name('a team name')), { identity: true }),
  balance: member(amount('0'), {
    set: 'booked',
    stored: { column: 'opening_credit' },
    alwaysWritten: true,
    doc: 'opening credit, as for users',
  }),
  rpm: member(rate(), { doc: 'requests per minute of all its keys combined' }),
  budget: member(budget, {
    stored: 'apart',
    doc: '`{ daily, monthly, total }`: what the team may spend per day, per month, and in total',
  }),
  database_away: member(away, {
    stored: 'apart',
    usual: '`billing.database_away`',
    doc: 'what happens to the requests of its keys that need more than is leased while the database is unreachable: `refuse` or `{ up_to: 5 }`, as [for all payers](books.md#without-the-database)',
  }),
  time_zone: member(
    text(string('a time zone such as Europe/Berlin', isTimeZone, { fallback: 'UTC' })),
    {
      stored: 'apart',
      alwaysWritten: true,
      doc: 'the zone in which days and months begin; a change applies from the next day on',
    },
  ),
  groups: member(groups(), {
    refersTo: 'group',
    doc: 'the groups that members may give keys that act for the team, in the console',
  }),
  members: member(members, {
    stored: 'apart',
    doc: "`{ user, role: owner or member, budget }`; the budget is what this member may spend in total. Owners see the team's requests and keys, and [manage the keys](console.md#who-sees-what)",
  }),
  enabled: member(yesOrNo(flag({ fallback: true })), {
    doc: '`false`: requests of its keys get a 403',
  }),
});
