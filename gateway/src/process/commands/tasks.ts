import { readDatabase } from './command-config.ts';
import { type Command, commonOptions, printResult } from './command.ts';
import { tableOf } from './text-table.ts';

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
    const [user, model] = [input.text('user'), input.text('model')];
    const filter = {
      limit: most,
      ...(input.flag('open') && { kind: 'open' as const }),
      ...(user !== undefined && { user }),
      ...(model !== undefined && { model }),
    };
    const { tasks, isUnknown } = await readDatabase(input, io, async ({ database }) => {
      const { listTasks } = await import('#tasks/index.ts');
      const { findUserByEmail } = await import('#identity/index.ts');
      const tasks = await listTasks(database.kysely, filter);
      const isUnknown =
        user !== undefined &&
        tasks.total === 0 &&
        (await findUserByEmail(database.kysely, user)) === null;
      return { tasks, isUnknown };
    });
    // A typing error must not look like a user without tasks.
    if (isUnknown) io.stderr(`note: there is no user '${user}'\n`);
    const table = tableOf(tasks.data, {
      TIME: ({ time }) => time,
      TASK: ({ id }) => id,
      USER: (task) => task.user,
      MODEL: (task) => task.model,
      STATE: ({ state, lost }) => state + (lost === null ? '' : ' (made later)'),
      CHANNEL: ({ channel }) => channel ?? '',
      HELD: ({ held }) => held ?? '',
    });
    const total = `total: ${tasks.total} ${tasks.total === 1 ? 'task' : 'tasks'}\n`;
    return printResult(input, io, tasks, table + total);
  },
};
