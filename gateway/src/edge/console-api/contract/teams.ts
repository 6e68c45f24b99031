import { z } from 'zod';
import { kinds } from '#config/index.ts';
import { givenAnytime, givenOnce, shownMembers } from './members.ts';
import { defineRoute } from './route.ts';
import {
  count,
  management,
  money,
  moneyLimit,
  ranged,
  searchText,
  text,
  usageSum,
} from './values.ts';

const { members: _members, ...settings } = shownMembers(kinds.team);

const amountOrNone = z.string('expected an amount in USD').nullable().optional();
const role = z.enum(['owner', 'member'], 'expected owner or member');

const member = z.object({
  id: z.string(),
  /** The e-mail address. */
  user: z.string(),
  name: z.string().nullable(),
  role: z.string(),
  enabled: z.boolean(),
  /** What this member may spend of the team's money in total; null: no such limit. */
  limit: moneyLimit.nullable(),
  /** The member's requests of the range that the team pays for. */
  usage: usageSum,
});

const teamView = {
  id: z.string(),
  /** `balance`: what is left of it now. `enabled`: false if its keys get no responses. */
  ...settings,
  budget: z.object({
    daily: money.optional(),
    monthly: money.optional(),
    total: money.optional(),
  }),
  database_away: z.union([z.string(), z.object({ up_to: money })]).nullable(),
  /** The budgets that are set. */
  limits: z.array(moneyLimit.extend({ name: z.enum(['daily', 'monthly', 'total']) })),
  /** Requests of the range that the team pays for. */
  usage: usageSum,
  ...management,
};

const listedTeam = z.object({
  ...teamView,
  /** How many people belong to it. */
  member_count: z.int(),
  /** Of those, up to five who own it. */
  owners: z.array(z.object({ user: z.string(), name: z.string().nullable() })),
});

const team = listedTeam.extend({
  /** Keys that can be used and act for it. */
  keys: z.int(),
});

const example: z.input<typeof team> = {
  id: 'team_7c',
  name: 'research',
  balance: '812.4',
  rpm: null,
  budget: { monthly: '1500' },
  database_away: null,
  time_zone: 'Europe/Berlin',
  groups: ['default'],
  limits: [
    {
      name: 'monthly',
      limit: '1500',
      spent: '1294',
      held: '9',
      window: { from: '2026-10-31T23:00:00.000Z', to: '2026-11-30T23:00:00.000Z' },
    },
  ],
  member_count: 8,
  owners: [{ user: 'grace@example.com', name: 'Grace' }],
  usage: { requests: 9_120, cost: '1294' },
  keys: 12,
  enabled: true,
  owner: 'console',
  editable: true,
  declared_in: null,
  revision: 41,
  created: '2026-11-03T10:00:00.000Z',
};

/** The id of a team, or its name. */
const parameters = z.strictObject({ id: text(200) });

/** Only kinds of values: what they may be are the rules of the file. */
const given = {
  budget: z
    .strictObject(
      { daily: amountOrNone, monthly: amountOrNone, total: amountOrNone },
      'expected daily, monthly or total',
    )
    .nullable()
    .optional(),
  database_away: z
    .union(
      [z.literal('refuse'), z.strictObject({ up_to: z.string() })],
      'expected refuse, or up_to with an amount in USD',
    )
    .nullable()
    .optional(),
  members: z
    .array(
      z.strictObject({ user: z.string(), role: role.optional(), budget: amountOrNone }),
      'expected a list',
    )
    .max(10_000, 'expected at most 10000 members')
    .optional(),
};

const page = {
  limit: count(1, 200).optional(),
  cursor: text(400).optional(),
};

export const listTeams = defineRoute({
  method: 'GET',
  path: '/teams',
  summary:
    'Teams by name, with their requests of a range: all of them, or those that the caller owns',
  permission: 'own',
  query: ranged({
    ...page,
    /** What the name contains, in capitals or not. */
    q: searchText,
  }),
  response: z.object({ data: z.array(listedTeam), next: z.string().nullable() }),
  example: {
    data: [example],
    next: null,
  },
});

export const readTeam = defineRoute({
  method: 'GET',
  path: '/teams/:id',
  summary: 'One team, with its revision in `etag`',
  permission: 'own',
  parameters,
  query: ranged({}),
  response: team,
  example,
});

export const listMembers = defineRoute({
  method: 'GET',
  path: '/teams/:id/members',
  summary:
    'Who belongs to a team, with what they spent of its money in a range: the one who spent most first',
  permission: 'own',
  parameters,
  query: ranged({
    ...page,
    /** What the address or the name contains, in capitals or not. */
    q: searchText,
  }),
  response: z.object({ data: z.array(member), next: z.string().nullable() }),
  example: {
    data: [
      {
        id: 'usr_1f',
        user: 'grace@example.com',
        name: 'Grace',
        role: 'owner',
        enabled: true,
        limit: null,
        usage: { requests: 804, cost: '148.1' },
      },
    ],
    next: null,
  },
});

export const createTeam = defineRoute({
  method: 'POST',
  path: '/teams',
  status: 201,
  summary: 'Make a team',
  permission: 'users.write',
  body: z.strictObject({
    name: text(200, 'a team name'),
    ...givenOnce(kinds.team),
    ...given,
  }),
  response: team,
  example,
});

export const changeTeam = defineRoute({
  method: 'PATCH',
  path: '/teams/:id',
  summary:
    'Change settings, or disable the team; `null` stands for none. `members` and `budget` replace what there was. Needs `if-match` with the revision',
  permission: 'users.write',
  parameters,
  body: z.strictObject({ ...givenAnytime(kinds.team), ...given }),
  response: team,
  example: { ...example, budget: { monthly: '1600' } },
});

/** The id of a team, or its name; the id of a person, or the e-mail address. */
const memberParameters = z.strictObject({
  id: text(200),
  user: text(300),
});

export const putMember = defineRoute({
  method: 'PUT',
  path: '/teams/:id/members/:user',
  summary:
    'Make a person a member, or replace what a member may. The owner of a team may do it too. `if-match` may name the revision of the team',
  permission: 'own',
  parameters: memberParameters,
  body: z.strictObject({
    /** Absent: `member`. */
    role: role.optional(),
    /** What the member may spend of the team's money in total. */
    budget: amountOrNone,
  }),
  response: team,
  example,
});

export const removeMember = defineRoute({
  method: 'DELETE',
  path: '/teams/:id/members/:user',
  summary: 'End a membership. The owner of a team may do it too',
  permission: 'own',
  parameters: memberParameters,
  response: team,
  example: { ...example, member_count: 7 },
});
