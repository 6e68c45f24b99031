import type { Migration } from 'kysely/migration';
import { addTables, type Table } from './add-tables.ts';

const adminKeys: Readonly<Record<string, Table>> = {
  admin_keys: {
    columns: [
      ['text', 'id name hash prefix role ips created_by?'],
      ['integer', 'created_at expires_at last_used_at? revoked_at?'],
      ['text', 'last_used_address?'],
    ],
    key: 'id',
    unique: { admin_keys_hash: 'hash' },
    indexes: ['name'],
  },
};

/** Adds the keys with which programs administer the gateway. */
export const adminKeyTable = (dialect: 'sqlite' | 'postgres'): Migration => ({
  up: (db) => addTables(db, dialect, adminKeys),
});
