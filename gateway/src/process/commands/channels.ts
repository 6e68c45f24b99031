import { administer, readDatabase } from './command-config.ts';
import { type Command, commonOptions, exitCode, printJson, printResult } from './command.ts';
import { formatTable, tableOf } from './text-table.ts';

export const channelList: Command = {
  name: 'channel list',
  description: 'VERDICT, ATTEMPTS and FAILED are about the last 24 hours, of all nodes.',
  options: commonOptions,
  positionals: [],
  async run(input, io) {
    const rows = await readDatabase(input, io, async ({ database: { kysely }, secrets }) => {
      const { listChannels } = await import('#catalogue/index.ts');
      const { verdictOf } = await import('#console-api/index.ts');
      const { channelTraffic } = await import('#usage/index.ts');
      const traffic = await channelTraffic(kysely, Date.now());
      return (await listChannels(kysely, secrets)).map((channel) => {
        const { id, name, provider, groups, models, priority, weight, owner, enabled } = channel;
        const recent = traffic.get(name);
        const failure = recent?.lastFailure ?? null;
        return {
          id,
          name,
          provider,
          groups,
          models: models.map((model) => model.name),
          priority,
          weight,
          owner,
          enabled,
          verdict: verdictOf(recent),
          attempts: recent?.attempts ?? 0,
          failed: recent?.failed ?? 0,
          last_failure: failure && {
            time: new Date(failure.time).toISOString(),
            request: failure.id,
            error: failure.error,
            status: failure.status,
            words: failure.text,
          },
        };
      });
    });
    const table = tableOf(rows, {
      NAME: ({ name }) => name,
      PROVIDER: ({ provider }) => provider,
      GROUPS: ({ groups }) => groups.join(' '),
      MODELS: ({ models }) => String(models.length),
      PRIORITY: ({ priority }) => String(priority),
      OWNER: ({ owner }) => owner,
      STATE: ({ enabled }) => (enabled ? 'enabled' : 'disabled'),
      VERDICT: ({ verdict }) => verdict,
      ATTEMPTS: ({ attempts }) => String(attempts),
      FAILED: ({ failed }) => String(failed),
      'LAST FAILURE': ({ last_failure: last }) =>
        last === null ? '' : `${last.time} ${last.error}`,
    });
    return printResult(input, io, rows, table);
  },
};

export const channelTest: Command = {
  name: 'channel test',
  description:
    'CHANNEL is a name or an id. The request is streamed and has a tool. Nobody is charged, and the audit log has it. Exit\n' +
    'code 1 if the channel does not work.',
  options: {
    model: { type: 'string', value: 'NAME', help: 'the model to ask; default: the first of it' },
    ...commonOptions,
  },
  positionals: ['CHANNEL'],
  async run(input, io) {
    const [reference = ''] = input.positionals;
    const result = await administer(input, io, async (administration, actor, config) => {
      const { channelStore, draftEntry } = await import('#administration/index.ts');
      const draft = { id: reference, members: {}, action: 'test' } as const;
      const { before } = await draftEntry(administration, actor, channelStore, draft);
      // Only the simulator has none: its port is known to the gateway that started it.
      if (before?.baseUrl === null) {
        throw new Error(
          `channel '${before.name}' leads to the simulator inside a running gateway: test it in the console`,
        );
      }
      const { tryChannelAlone } = await import('#app/index.ts');
      const { database, secrets } = administration;
      return tryChannelAlone(
        { config, database, secrets, onDefect: (error) => io.stderr(`${String(error)}\n`) },
        before!,
        input.text('model') ?? null,
      );
    });
    const { adviceFor } = await import('#console-api/index.ts');
    const advice = adviceFor(result);
    const code = result.class === 'works' ? exitCode.done : exitCode.failed;
    if (input.flag('json')) {
      printJson(io, { ...result, advice });
      return code;
    }
    const isRefusal = result.status !== null && result.status >= 400;
    const failedAt = result.steps.findIndex(
      ({ step, ok }) => !ok || (isRefusal && step === 'status'),
    );
    const steps = result.steps.map(({ step, ms }, at) => [
      step,
      ms === null ? '' : String(Math.round(ms)),
      failedAt < 0 || at < failedAt ? 'ok' : at === failedAt ? 'failed' : 'not reached',
    ]);
    const facts: [string, string | null][] = [
      ['result', result.class],
      ['model', result.model],
      ['status', result.status === null ? null : String(result.status)],
      ['text', result.text],
      ['upstream', result.words],
      ['advice', advice],
    ];
    io.stdout(formatTable(['STEP', 'MS', ''], steps));
    for (const [name, text] of facts) {
      if (text !== null && text !== '') io.stdout(formatTable([`${name}: ${text}`], []));
    }
    return code;
  },
};
