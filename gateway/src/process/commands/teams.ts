import { loadCommandConfig } from './command-config.ts';
import { type Command, commonOptions, exitCode, printJson } from './command.ts';

export const teamList: Command = {
  name: 'team list',
  description: '',
  options: commonOptions,
  positionals: [],
  async run(input, io) {
    const config = await loadCommandConfig(input, io);
    const { withReadableWorkspace } = await import('./workspace.ts');
    const { listTeams } = await import('#identity/index.ts');
    const teams = await withReadableWorkspace(config, ({ database }) => listTeams(database.kysely));
    if (input.flag('json')) {
      const rows = teams.map(({ id, name, budget, timeZone, members, owner, enabled }) => ({
        id,
        name,
        budget,
        time_zone: timeZone,
        members,
        owner,
        enabled,
      }));
      printJson(io, rows);
      return exitCode.done;
    }
    const { formatTable } = await import('./text-table.ts');
    const rows = teams.map(({ name, members, budget, timeZone, owner, enabled }) => [
      name,
      String(members.length),
      budget.daily ?? '',
      budget.monthly ?? '',
      budget.total ?? '',
      timeZone,
      owner,
      enabled ? 'enabled' : 'disabled',
    ]);
    const heading = ['NAME', 'MEMBERS', 'DAILY', 'MONTHLY', 'TOTAL', 'TIME ZONE', 'OWNER', 'STATE'];
    io.stdout(formatTable(heading, rows));
    return exitCode.done;
  },
};
