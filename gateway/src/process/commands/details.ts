import { readDatabase } from './command-config.ts';
import {
  type Command,
  type CommandInput,
  type CommandIo,
  commonOptions,
  printResult,
} from './command.ts';
import { formatTable, tableOf } from './text-table.ts';
import type { Workspace } from './workspace.ts';

/** How a person is, as `GET /users/{id}` of the console's API shows it. */
export const userShow: Command = {
  name: 'user show',
  description: 'Requests and spending are those of the last 30 days. EMAIL may be an id.',
  options: commonOptions,
  positionals: ['EMAIL'],
  async run(input, io) {
    const [reference = ''] = input.positionals;
    const user = await describing(input, io, async ({ database: { kysely } }, describe) => {
      const { findUser } = await import('#identity/index.ts');
      const { createPeopleDescriber } = await import('#console-api/index.ts');
      const found = await findUser(kysely, reference);
      if (found === null) throw new Error(`user '${reference}' does not exist`);
      const [view] = await createPeopleDescriber(describe)(kysely, [found], describe.hours);
      return view!;
    });
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
    return printResult(input, io, user, formatLines(lines));
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
    const [reference = ''] = input.positionals;
    const team = await describing(input, io, async ({ database: { kysely } }, describe) => {
      const { findTeam } = await import('#identity/index.ts');
      const { createTeamDescriber } = await import('#console-api/index.ts');
      const found = await findTeam(kysely, reference, { members: 'left-out' });
      if (found === null) throw new Error(`team '${reference}' does not exist`);
      const { detailOf, membersOf } = createTeamDescriber(describe);
      const { data: members } = await membersOf(kysely, found, describe.hours);
      return { ...(await detailOf(kysely, found, describe.hours)), members };
    });
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
    const members = tableOf(team.members, {
      MEMBER: ({ user }) => user,
      ROLE: ({ role }) => role,
      PART: ({ limit }) => limitText(limit),
      USAGE: ({ usage }) => usageText(usage),
    });
    const text = formatLines(lines) + (team.members.length === 0 ? '' : `\n${members}`);
    return printResult(input, io, team, text);
  },
};

/** What the descriptions of the console's API need here. */
async function describing<Result>(
  input: CommandInput,
  io: CommandIo,
  read: (workspace: Workspace, describe: Describing) => Promise<Result>,
): Promise<Result> {
  return readDatabase(input, io, async (workspace, config) => {
    const { createPlaceInFile, exactRange } = await import('#console-api/index.ts');
    const { heldByTasks } = await import('#ledger/index.ts');
    return read(workspace, {
      // What requests under way hold is known to the gateway alone.
      held: (meters) => heldByTasks(workspace.database.kysely, meters),
      placeInFile: createPlaceInFile(() => config),
      now: Date.now,
      hours: exactRange({}, Date.now()),
    });
  });
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
function formatLines(lines: readonly (readonly [string, string])[]): string {
  const [first, ...rest] = lines.filter(([, value]) => value !== '');
  return first === undefined ? '' : formatTable(first, rest);
}
