import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { parseUsd, type OpenDatabase } from '#database/index.ts';
import {
  findUser,
  listKeys,
  listTeams,
  membershipsOfEach,
  type StoredUser,
} from '#identity/index.ts';
import { fundingOf } from '#ledger/index.ts';
import { contract } from './contract/index.ts';
import { ApiError } from './errors.ts';
import { type MeterLimit, readLimits } from './limits.ts';
import { serveRoute } from './serve-route.ts';
import { budgetsOf } from './teams/describe-teams.ts';
import type { PeopleOptions } from './users/routes.ts';

type View = z.input<typeof contract.readMyLimits.response>['data'][number];
type OwnLimit = MeterLimit & Omit<View, 'limit' | 'spent' | 'held' | 'window'>;
type Db = OpenDatabase['kysely'];

/** More keys with quotas than anybody looks at. */
const mostKeys = 200;

/** What everybody has left. */
export function ownLimitRoutes(scope: FastifyInstance, options: PeopleOptions): void {
  const { reads, held, now } = options;
  serveRoute(scope, contract.readMyLimits, options, async ({ caller }) =>
    reads(async (db) => {
      const user = await findUser(db, caller.session.user.id);
      if (user === null) throw new ApiError('not_found', 'there is no such user');
      const limits = [
        ...(await personalLimits(db, user)),
        ...(await keyLimits(db, user)),
        ...(await teamLimits(db, user, now())),
      ];
      const amounts = await readLimits(db, held, limits);
      return {
        body: {
          data: limits.flatMap(({ meter, limit: _limit, window: _window, ...names }) => {
            const amount = amounts.get(meter);
            return amount === undefined ? [] : [{ ...names, ...amount }];
          }),
        },
      };
    }),
  );
}

async function personalLimits(db: Db, { id, email, quota }: StoredUser): Promise<OwnLimit[]> {
  const account = `user:${id}` as const;
  const credited = (await fundingOf(db, [account])).get(account) ?? 0n;
  const common = { of: 'person', name: email, window: null } as const;
  return [
    { ...common, kind: 'balance', meter: `${account}:balance`, limit: credited },
    ...(quota === null
      ? []
      : [{ ...common, kind: 'quota' as const, meter: `${account}:quota`, limit: parseUsd(quota) }]),
  ];
}

async function keyLimits(db: Db, { id: userId }: StoredUser): Promise<OwnLimit[]> {
  const keys = await listKeys(db, { within: { userId, teamIds: [] }, limit: mostKeys });
  return keys.flatMap(({ id, name, quota, revokedAt }) =>
    quota === null || revokedAt !== null
      ? []
      : [
          {
            of: 'key' as const,
            name,
            kind: 'quota' as const,
            meter: `key:${id}:quota`,
            limit: parseUsd(quota),
            window: null,
          },
        ],
  );
}

/** The budgets of the teams, and the person's own part of them; not those of other members. */
async function teamLimits(db: Db, { id: userId, email }: StoredUser, now: number) {
  const memberships = (await membershipsOfEach(db, [userId])).get(userId) ?? [];
  const teams = await listTeams(db, { ids: memberships.map(({ id }) => id) });
  const credits = await fundingOf(
    db,
    teams.map(({ id }) => `team:${id}` as const),
  );
  return teams.flatMap((team): OwnLimit[] => {
    const common = { of: 'team', name: team.name } as const;
    const shared = { ...common, shared_by: team.members.length };
    const account = `team:${team.id}` as const;
    const part = team.members.find(({ user }) => user === email)?.budget ?? null;
    return [
      {
        ...shared,
        kind: 'balance',
        meter: `${account}:balance`,
        limit: credits.get(account) ?? 0n,
        window: null,
      },
      ...budgetsOf(team, now).map(({ name: kind, ...budget }) => ({ ...shared, kind, ...budget })),
      ...(part === null
        ? []
        : [
            {
              ...common,
              kind: 'member' as const,
              meter: `${account}:member:${userId}`,
              limit: parseUsd(part),
              window: null,
            },
          ]),
    ];
  });
}
