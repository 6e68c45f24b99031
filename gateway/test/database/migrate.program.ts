import { migrate, openDatabase } from '#database/index.ts';

const database = openDatabase({ url: process.argv[2] ?? '', statementTimeout: 0 });
await migrate(database);
await database.close();
