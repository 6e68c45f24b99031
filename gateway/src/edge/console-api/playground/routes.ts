import type { FastifyInstance } from 'fastify';
import { type Administration, sessionKey } from '#administration/index.ts';
import type { CatalogueSnapshot } from '#catalogue/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import { listTeams, sessionEnd } from '#identity/index.ts';
import { contract } from '../contract/index.ts';
import { ApiError } from '../errors.ts';
import { fromDatabase, type Reads } from '../from-database.ts';
import { usualGroupOf } from '../keys/reach.ts';
import { usableGroups } from '../models/groups.ts';
import { mayPlay, type ConsoleMembers } from '../contract/permissions.ts';
import { serveRoute, type ServeOptions } from '../serve-route.ts';

export interface PlaygroundOptions extends ServeOptions {
  readonly database: OpenDatabase;
  readonly reads: Reads;
  readonly administration: Administration;
  readonly members: ConsoleMembers;
  /** The catalogue at this moment. */
  readonly snapshot: () => CatalogueSnapshot;
}

type Db = OpenDatabase['kysely'];

/** What the playground asks models with: limited and charged as the person's own keys are. */
export function playgroundRoutes(scope: FastifyInstance, options: PlaygroundOptions): void {
  const { administration, reads, members, snapshot } = options;

  serveRoute(scope, contract.playgroundKey, options, async ({ body, caller }) => {
    const { session } = caller;
    if (!mayPlay(members, caller.permissions)) {
      throw new ApiError('forbidden', 'only administrators use the playground here');
    }
    const { team = null } = body;
    const { teamId, group } = await reads(async (db) => ({
      teamId: await teamIdOf(db, team, session.user.email),
      group: await groupOf(db, { caller, team }, body.group),
    }));
    const key = await fromDatabase(() =>
      sessionKey(
        administration,
        caller.actor,
        { sessionId: session.id, userId: session.user.id, teamId, group },
        sessionEnd(session),
      ),
    );
    if (key === null) throw new ApiError('unauthenticated', 'you are not signed in');
    return { body: { key: key.secret, expires_at: new Date(key.expiresAt).toISOString() } };
  });

  /** @throws ApiError `invalid` */
  async function groupOf(db: Db, use: Parameters<typeof usableGroups>[1], groupName?: string) {
    const groups = await usableGroups(db, use, snapshot());
    const group = groupName ?? usualGroupOf([...groups]);
    if (groups.has(group)) return group;
    throw noSuch('group', `there is no group '${group}' that you may use`);
  }
}

/** @throws ApiError `invalid` */
async function teamIdOf(db: Db, team: string | null, email: string): Promise<string | null> {
  if (team === null) return null;
  const own = (await listTeams(db)).find(
    ({ name, enabled, members }) =>
      name === team && enabled && members.some(({ user }) => user === email),
  );
  if (own === undefined) throw noSuch('team', `you are in no team '${team}'`);
  return own.id;
}

const noSuch = (path: 'group' | 'team', message: string) =>
  new ApiError('invalid', message, { fields: [{ path, message }] });
