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
import { teamWindows } from './0010-team-windows.ts';
import { upstreamState } from './0011-upstream-state.ts';
import { refusalCounts } from './0013-refusal-counts.ts';
import type { ColumnTypes } from './column-types.ts';

/** All steps in order. Never edit a released step; a change is a new step. */
export function createMigrations(dialect: 'sqlite' | 'postgres'): Record<string, Migration> {
  const types: ColumnTypes =
    dialect === 'sqlite'
      ? { text: 'text', integer: 'integer', tableEnd: 'strict' }
      : { text: 'text', integer: 'bigint', tableEnd: '' };
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
    '0010-team-windows': teamWindows(types),
    '0011-upstream-state': upstreamState(types),
    '0013-refusal-counts': refusalCounts(types),
  };
}
