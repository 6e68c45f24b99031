import { loadCommandConfig } from './command-config.ts';
import { type Command, commonOptions, exitCode, printJson } from './command.ts';

/** More than anybody reads. */
const most = 1_000;

export const tasksCommand: Command = {
  name: 'tasks',
  description: 'Newest first, at most 1000. A task is listed until 7 days after its end.',
  options: {
    open: { type: 'boolean', help: 'only those that have not ended' },
    user: { type: 'string', value: 'EMAIL', help: 'only the tasks of this user' },
    model: { type: 'string', value: 'NAME', help: 'only this model, as clients wrote it' },
    ...commonOptions,
  },
  positionals: [],
  async run(input, io) {
    const config = await loadCommandConfig(input, io);
    const { withReadableWorkspace } = await import('./workspace.ts');
    const { listTasks } = await import('#tasks/index.ts');
    const { findUserByEmail } = await import('#identity/index.ts');
    const [user, model] = [input.text('user'), input.text('model')];
    const filter = {
      limit: most,
      ...(input.flag('open') && { kind: 'open' as const }),
      ...(user !== undefined && { user }),
      ...(model !== undefined && { model }),
    };
    const { tasks, isUnknown } = await withReadableWorkspace(config, async ({ database }) => {
      const tasks = await listTasks(database.kysely, filter);
      const isUnknown =
        user !== undefined &&
        tasks.total === 0 &&
        (await findUserByEmail(database.kysely, user)) === null;
      return { tasks, isUnknown };
    });
    // A typing error must not look like a user without tasks.
    if (isUnknown) io.stderr(`note: there is no user '${user}'\n`);
    if (input.flag('json')) {
      printJson(io, tasks);
      return exitCode.done;
    }
    const { formatTable } = await import('./text-table.ts');
    const heading = ['TIME', 'TASK', 'USER', 'MODEL', 'STATE', 'CHANNEL', 'HELD'];
    const rows = tasks.data.map((task) => [
      task.time,
      task.id,
      task.user,
      task.model,
      task.state + (task.lost === null ? '' : ' (made later)'),
      task.channel ?? '',
      task.held ?? '',
    ]);
    io.stdout(formatTable(heading, rows));
    io.stdout(`total: ${tasks.total} ${tasks.total === 1 ? 'task' : 'tasks'}\n`);
    return exitCode.done;
  },
};
