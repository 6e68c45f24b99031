import type { Migration } from 'kysely/migration';
import { accounts } from './0001-accounts.ts';
import { catalogue } from './0002-catalogue.ts';
import { usage } from './0003-usage.ts';
import { prices } from './0004-prices.ts';
import { ledger } from './0005-ledger.ts';
import { usageHourly } from './0006-usage-hourly.ts';
import { keyRotation } from './0007-key-rotation.ts';
import { nodes } from './0008-nodes.ts';
import { masterKey } from './0009-master-key.ts';
import { upstreamState } from './0011-upstream-state.ts';
import { journalLosses } from './0016-journal-losses.ts';
import { unfinishedAttempts } from './0017-unfinished-attempts.ts';
import { leases } from './0018-leases.ts';
import { keptCredits } from './0019-kept-credits.ts';
import { tasks } from './0023-tasks.ts';

import { sessions } from './0025-sessions.ts';
import { reading } from './0026-reading.ts';
import { audit } from './0027-audit.ts';
import { taskResults } from './0028-task-results.ts';
import { keyLimits } from './0029-key-limits.ts';
import { grantedGroups } from './0033-granted-groups.ts';
import { hourlyClients } from './0034-hourly-clients.ts';
import { fileRevisions } from './0036-file-revisions.ts';
import { addedColumns, type ColumnTypes } from './column-types.ts';

/** All steps in order; one that only adds columns needs no file. Never edit a released step; a change is a new step. */
export function createMigrations(dialect: 'sqlite' | 'postgres'): Record<string, Migration> {
  const types: ColumnTypes =
    dialect === 'sqlite'
      ? { text: 'text', integer: 'integer', tableEnd: 'strict' }
      : { text: 'text', integer: 'bigint', tableEnd: '' };
  const { text, integer } = types;
  return {
    '0001-accounts': accounts(types),
    '0002-catalogue': catalogue(types),
    '0003-usage': usage(types),
    '0004-prices': prices(types),
    '0005-ledger': ledger(types),
    '0006-usage-hourly': usageHourly(types),
    '0007-key-rotation': keyRotation(types),
    '0008-nodes': nodes(types),
    '0009-master-key': masterKey(types),
    // The budget day that was open when a team's time zone changed, and the zone in which it ends.
    '0010-team-windows': addedColumns('teams', {
      open_window: { type: text },
      open_window_zone: { type: text },
    }),
    '0011-upstream-state': upstreamState(types),
    // The number of identical refusals that a usage row stands for.
    '0013-refusal-counts': addedColumns('usage', { count: { type: integer, before: 1 } }),
    // Whatever is not tokens, such as pictures, as JSON; and the pictures of an hour.
    '0014-units': addedColumns('usage', { units: { type: text } }),
    '0015-hourly-images': addedColumns('usage_hourly', { images: { type: integer, before: 0 } }),
    '0016-journal-losses': journalLosses(types),
    '0017-unfinished-attempts': unfinishedAttempts(types),
    '0018-leases': leases(types),
    '0019-kept-credits': keptCredits(types),
    // After how long a life is freed; when it was, and what its leases had left; what its requests held at its last sign.
    '0020-lives': addedColumns('lives', {
      age: { type: integer, before: 600_000 },
      freed: { type: integer },
      freed_at: { type: integer },
      holds: { type: text },
    }),
    // What of a charge came after its lease had been freed.
    '0021-late-charges': addedColumns('usage', { late: { type: integer } }),
    '0023-tasks': tasks(types),
    // The videos of an hour.
    '0024-hourly-video': addedColumns('usage_hourly', {
      video_ms: { type: integer, before: 0 },
      video_tokens: { type: integer, before: 0 },
    }),
    '0025-sessions': sessions(types),
    '0026-reading': reading(types),
    '0027-audit': audit(types),
    '0028-task-results': taskResults(types),
    '0029-key-limits': keyLimits(types),
    // The session in the console that a key belongs to.
    '0030-session-keys': addedColumns('keys', { session_id: { type: text } }),
    // What a person has chosen in the console, as JSON.
    '0031-preferences': addedColumns('users', { preferences: { type: text } }),
    // The channels that an exchange passed over, and why, as JSON.
    '0032-route': addedColumns('usage', { route: { type: text } }),
    '0033-granted-groups': grantedGroups(types),
    '0034-hourly-clients': hourlyClients({ ...types, dialect }),
    '0036-file-revisions': fileRevisions(types),
    // Counters in the upstream's usage that nothing reads, as JSON.
    '0037-usage-unread': addedColumns('usage', { usage_unread: { type: text } }),
  };
}
