import { kinds } from '#config/index.ts';
import { formatUsd, type OpenDatabase, parseUsd } from '#database/index.ts';
import {
  countSessions,
  countUsableKeys,
  membershipsOfEach,
  type StoredUser,
  withIdentity,
  withSecondFactor,
} from '#identity/index.ts';
import { balances } from '#ledger/index.ts';
import { lastRequests } from '#usage/index.ts';
import { shownValues } from '../contract/members.ts';
import { type Held, type Hours, noUsage, readLimits, usageBy } from '../limits.ts';
import { managementOf, type PlaceInFile } from '../writes.ts';

export interface DescriptionOptions {
  readonly held: Held;
  readonly placeInFile: PlaceInFile;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Shows people with what they have left, and what they did within some hours. */
export function createPeopleDescriber({ held, placeInFile, now }: DescriptionOptions) {
  return async (db: OpenDatabase['kysely'], users: readonly StoredUser[], hours: Hours) => {
    const ids = users.map(({ id }) => id);
    const left = await balances(
      db,
      ids.map((id) => `user:${id}` as const),
    );
    const limits = await readLimits(
      db,
      held,
      users.flatMap(({ id, quota }) =>
        quota === null ? [] : [{ meter: `user:${id}:quota`, limit: parseUsd(quota), window: null }],
      ),
    );
    const memberships = await membershipsOfEach(db, ids);
    const keys = await countUsableKeys(db, 'user_id', ids, now());
    const usage = await usageBy(db, 'user', hours, { userIds: ids });
    const requests = await lastRequests(db, ids);
    const sessions = await countSessions(db, ids, now());
    const factors = await withSecondFactor(db, ids);
    const connected = await withIdentity(db, ids);
    return users.map((user) => {
      const { id, invitedUntil } = user;
      const seen = Math.max(requests.get(id) ?? 0, sessions.get(id)?.seenAt ?? 0);
      return {
        id,
        ...shownValues(kinds.user, user),
        balance: formatUsd(left.get(`user:${id}`) ?? 0n),
        limit: limits.get(`user:${id}:quota`) ?? null,
        teams: memberships.get(id) ?? [],
        keys: keys.get(id) ?? 0,
        usage: usage.get(id) ?? noUsage,
        last_seen_at: seen === 0 ? null : new Date(seen).toISOString(),
        has_password: user.passwordHash !== null,
        second_factor: factors.has(id),
        connected: connected.has(id),
        invited_until:
          invitedUntil !== null && invitedUntil > now()
            ? new Date(invitedUntil).toISOString()
            : null,
        sessions: sessions.get(id)?.count ?? 0,
        ...managementOf(kinds.user, user, placeInFile),
      };
    });
  };
}
