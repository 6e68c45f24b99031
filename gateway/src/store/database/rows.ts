import { randomBytes } from 'node:crypto';
import type { Owner } from './schema.ts';

/** A stored entry: the declaration plus the members that the database adds. */
export type Stored<Declared> = Declared & {
  readonly owner: Owner;
  readonly enabled: boolean;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
};

interface OwnedColumns {
  readonly owner: Owner;
  readonly enabled: number;
  readonly created_at: number;
  readonly updated_at: number;
}

/** The members of `Stored` that come from the columns of every owned row. */
export function ownedFields(row: OwnedColumns) {
  return {
    owner: row.owner,
    enabled: row.enabled === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Whether any of `values` differs from the row. */
export function differs<Row extends object>(row: Row, values: Partial<Row>): boolean {
  return Object.entries(values).some(([column, value]) => row[column as keyof Row] !== value);
}

/** A new row id such as `ch_3f…`: a prefix for the kind of row and 96 random bits. */
export function createId(prefix: 'ch' | 'usr' | 'team' | 'key'): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}

/** A boolean as the database stores it. */
export function bit(value: boolean): 0 | 1 {
  return value ? 1 : 0;
}
