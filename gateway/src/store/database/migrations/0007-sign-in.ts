import type { Migration } from 'kysely/migration';
import { addTables, type Table } from './add-tables.ts';

/** Other proofs of who somebody is than a password. */
const signInTables: Readonly<Record<string, Table>> = {
  identities: {
    columns: [
      ['text', 'issuer subject user_id'],
      ['integer', 'created_at'],
    ],
    key: { identities_pk: 'issuer subject' },
    // A person has one at each provider: an address that went to somebody else opens nothing.
    unique: { identities_user: 'user_id issuer' },
    references: { user_id: 'users' },
  },
  finished_sign_ins: {
    columns: [
      ['text', 'id'],
      ['integer', 'expires_at'],
    ],
    key: 'id',
    indexes: ['expires_at'],
  },
  second_factors: {
    columns: [
      ['text', 'user_id secret'],
      ['integer', 'confirmed_at? last_step=0 created_at'],
    ],
    key: 'user_id',
    references: { user_id: 'users' },
  },
  recovery_codes: {
    columns: [['text', 'user_id hash']],
    key: { recovery_codes_pk: 'user_id hash' },
    references: { user_id: 'users' },
  },
};

/** Adds sign-ins at a provider, and second factors. */
export function signIn(dialect: 'sqlite' | 'postgres'): Migration {
  return { up: (db) => addTables(db, dialect, signInTables) };
}
