import { readDatabase } from './command-config.ts';
import { type Command, commonOptions, printResult } from './command.ts';
import { tableOf } from './text-table.ts';

export const teamList: Command = {
  name: 'team list',
  description: '',
  options: commonOptions,
  positionals: [],
  async run(input, io) {
    const teams = await readDatabase(input, io, async ({ database }) => {
      const { listTeams } = await import('#identity/index.ts');
      return listTeams(database.kysely);
    });
    const rows = teams.map(({ id, name, budget, timeZone, members, owner, enabled }) => ({
      id,
      name,
      budget,
      time_zone: timeZone,
      members,
      owner,
      enabled,
    }));
    const table = tableOf(rows, {
      NAME: ({ name }) => name,
      MEMBERS: ({ members }) => String(members.length),
      DAILY: ({ budget }) => budget.daily ?? '',
      MONTHLY: ({ budget }) => budget.monthly ?? '',
      TOTAL: ({ budget }) => budget.total ?? '',
      'TIME ZONE': ({ time_zone }) => time_zone,
      OWNER: ({ owner }) => owner,
      STATE: ({ enabled }) => (enabled ? 'enabled' : 'disabled'),
    });
    return printResult(input, io, rows, table);
  },
};
