import type { Config } from '#config/index.ts';
import { loadCommandConfig } from './command-config.ts';
import { type Command, commonOptions, exitCode, printJson } from './command.ts';
import type { Workspace } from './workspace.ts';

/** How a person is, as `GET /users/{id}` of the console's API shows it. */
export const userShow: Command = {
  name: 'user show',
  description: 'Requests and spending are those of the last 30 days. EMAIL may be an id.',
  options: commonOptions,
  positionals: ['EMAIL'],
  async run(input, io) {
    const config = await loadCommandConfig(input, io);
    const [reference = ''] = input.positionals;
    const user = await reading(config, async ({ database: { kysely } }, describe) => {
      const { findUser } = await import('#identity/index.ts');
      const { createPeopleDescriber } = await import('#console-api/index.ts');
      const found = await findUser(kysely, reference);
      if (found === null) throw new Error(`user '${reference}' does not exist`);
      const [view] = await createPeopleDescriber(describe)(kysely, [found], describe.hours);
      return view!;
    });
    if (input.flag('json')) {
      printJson(io, user);
      return exitCode.done;
    }
    const lines: [string, string][] = [
      ['e-mail', user.email],
      ['name', user.name ?? ''],
      ['id', user.id],
      ['role', user.role],
      ['state', user.enabled ? 'enabled' : 'disabled'],
      ['owner', user.owner],
      ['balance', `${user.balance} USD`],
      ['quota', limitText(user.limit)],
      ['groups', user.groups.join(', ')],
      ['teams', user.teams.map(({ name, role }) => `${name} (${role})`).join(', ')],
      ['keys', String(user.keys)],
      ['usage', usageText(user.usage)],
      ['password', passwordText(user)],
      ['sessions', String(user.sessions)],
      ['last seen', user.last_seen_at ?? 'never'],
    ];
    io.stdout(await formatLines(lines));
    return exitCode.done;
  },
};

function passwordText(user: { has_password: boolean; invited_until: string | null }): string {
  if (user.has_password) return 'set';
  return user.invited_until === null ? 'none' : `none, invited until ${user.invited_until}`;
}

/** How a team is, as `GET /teams/{id}` of the console's API shows it, with its members. */
export const teamShow: Command = {
  name: 'team show',
  description: 'Requests and spending are those of the last 30 days. NAME may be an id.',
  options: commonOptions,
  positionals: ['NAME'],
  async run(input, io) {
    const config = await loadCommandConfig(input, io);
    const [reference = ''] = input.positionals;
    const team = await reading(config, async ({ database: { kysely } }, describe) => {
      const { findTeam } = await import('#identity/index.ts');
      const { createTeamDescriber } = await import('#console-api/index.ts');
      const found = await findTeam(kysely, reference, { members: 'left-out' });
      if (found === null) throw new Error(`team '${reference}' does not exist`);
      const { detailOf, membersOf } = createTeamDescriber(describe);
      const { data: members } = await membersOf(kysely, found, describe.hours);
      return { ...(await detailOf(kysely, found, describe.hours)), members };
    });
    if (input.flag('json')) {
      printJson(io, team);
      return exitCode.done;
    }
    const lines: [string, string][] = [
      ['name', team.name],
      ['id', team.id],
      ['state', team.enabled ? 'enabled' : 'disabled'],
      ['owner', team.owner],
      ['balance', `${team.balance} USD`],
      ...team.limits.map(({ name, ...limit }): [string, string] => [name, limitText(limit)]),
      ['time zone', team.time_zone],
      ['groups', team.groups.join(', ')],
      ['usage', usageText(team.usage)],
    ];
    io.stdout(await formatLines(lines));
    const { formatTable } = await import('./text-table.ts');
    const rows = team.members.map(({ user, role, limit, usage }) => [
      user,
      role,
      limitText(limit),
      usageText(usage),
    ]);
    if (rows.length > 0) io.stdout(`\n${formatTable(['MEMBER', 'ROLE', 'PART', 'USAGE'], rows)}`);
    return exitCode.done;
  },
};

/** What the descriptions of the console's API need here. */
async function reading<Result>(
  config: Config,
  read: (workspace: Workspace, describe: Describing) => Promise<Result>,
): Promise<Result> {
  const { withReadableWorkspace } = await import('./workspace.ts');
  const { createPlaceInFile, exactRange } = await import('#console-api/index.ts');
  const { heldByTasks } = await import('#ledger/index.ts');
  return withReadableWorkspace(config, (workspace) =>
    read(workspace, {
      // What requests under way hold is known to the gateway alone.
      held: (meters) => heldByTasks(workspace.database.kysely, meters),
      placeInFile: createPlaceInFile(() => config),
      now: Date.now,
      hours: exactRange({}, Date.now()),
    }),
  );
}

interface Describing {
  readonly held: (
    meters: readonly string[],
  ) => ReturnType<(typeof import('#ledger/index.ts'))['heldByTasks']>;
  readonly placeInFile: ReturnType<(typeof import('#console-api/index.ts'))['createPlaceInFile']>;
  readonly now: () => number;
  readonly hours: { readonly from: number; readonly to: number };
}

interface Limit {
  readonly limit: string;
  readonly spent: string;
  readonly held: string;
  readonly window: { readonly to: string } | null;
}

function limitText(limit: Limit | null): string {
  if (limit === null) return 'none';
  const { limit: most, spent, held, window } = limit;
  const end = window === null ? '' : `, until ${window.to}`;
  const tasks = held === '0' ? '' : ` and ${held} held by tasks`;
  return `${spent} of ${most} USD spent${tasks}${end}`;
}

const usageText = ({ requests, cost }: { requests: number; cost: string }) =>
  `${requests} ${requests === 1 ? 'request' : 'requests'}, ${cost} USD`;

/** Names with values, one a line; those without a value are left out. */
async function formatLines(lines: readonly (readonly [string, string])[]): Promise<string> {
  const { formatTable } = await import('./text-table.ts');
  const [first, ...rest] = lines.filter(([, value]) => value !== '');
  return first === undefined ? '' : formatTable(first, rest);
}
