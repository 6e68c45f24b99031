import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addColumns, addOwned, createTable, type ColumnTypes } from './column-types.ts';

/** Groups, channels, models and aliases: small tables, always read whole. */
export function catalogue(types: ColumnTypes): Migration {
  const { text, integer } = types;
  return {
    async up(db: Kysely<unknown>) {
      const groups = addOwned(keyed(db, 'groups', 'name', types), types);
      await addColumns(groups, text, ['price_multiplier']).execute();

      let channels = addOwned(keyed(db, 'channels', 'id', types), types);
      channels = addColumns(channels, text, ['name', 'provider', 'base_url?', 'credentials']);
      channels = addColumns(channels, text, ['settings']);
      channels = addColumns(channels, integer, ['priority', 'weight']);
      await channels.addUniqueConstraint('channels_name', ['name']).execute();

      const models = addOwned(keyed(db, 'models', 'id', types), types);
      await addColumns(models, text, ['type', 'settings']).execute();

      const aliases = addOwned(keyed(db, 'aliases', 'name', types), types);
      await addColumns(aliases, text, ['model']).execute();
    },
  };
}

function keyed(db: Kysely<unknown>, table: string, key: string, types: ColumnTypes) {
  return createTable(db, table, types).addColumn(key, types.text, (column) =>
    column.primaryKey().notNull(),
  );
}
