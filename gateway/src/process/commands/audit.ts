import { readDatabase } from './command-config.ts';
import {
  type Command,
  commonOptions,
  printResult,
  readTimes,
  timeOptions,
  UsageError,
} from './command.ts';
import { tableOf } from './text-table.ts';

const usualLimit = 100;
const most = 1_000;

export const auditCommand: Command = {
  name: 'audit',
  description:
    'Newest first: every change by a person, a command, the file or the gateway itself, and every sign-in. Lines are\n' +
    'kept for retention.audit (730d).',
  options: {
    ...timeOptions,
    actor: {
      type: 'string',
      value: 'NAME',
      help: 'only what people, commands or files did whose names contain this, or this user of the machine',
    },
    action: {
      type: 'string',
      value: 'ACTION',
      help: 'such as key.rotate, or key for all of a kind',
    },
    object: {
      type: 'string',
      value: 'NAME',
      help: 'only what was done to objects whose names contain this, or whose id it is',
    },
    limit: { type: 'string', value: 'N', help: 'at most this many, up to 1000; default: 100' },
    cursor: { type: 'string', value: 'NEXT', help: 'the cursor that the previous page printed' },
    ...commonOptions,
  },
  positionals: [],
  async run(input, io) {
    const limit = readNumber(input.text('limit') ?? `${usualLimit}`, 'limit', most);
    const cursor = input.text('cursor');
    const [actor, action, object] = [
      input.text('actor'),
      input.text('action'),
      input.text('object'),
    ];
    const filter = {
      ...(await readTimes(input)),
      // One more than is shown tells whether there is a next page.
      limit: limit + 1,
      ...(actor !== undefined && { actor }),
      ...(action !== undefined && { action }),
      ...(object !== undefined && { object }),
      ...(cursor !== undefined && {
        before: readNumber(cursor, 'cursor', Number.MAX_SAFE_INTEGER),
      }),
    };
    const entries = await readDatabase(input, io, async ({ database }) => {
      const { listAudit } = await import('#administration/index.ts');
      return listAudit(database.kysely, filter);
    });
    const data = entries.slice(0, limit);
    const next = entries.length > limit ? String(data.at(-1)?.id) : null;
    const table = tableOf(data, {
      TIME: ({ time }) => time,
      ACTOR: ({ actor: { name, user } }) => (user === null ? name : `${name} (${user})`),
      ADDRESS: (line) => line.actor.address ?? '',
      ACTION: (line) => line.action,
      OBJECT: (line) => line.object.name,
      CHANGES: ({ changes }) =>
        changes.map(({ field, after }) => `${field}: ${textOf(after)}`).join(', '),
    });
    const more = next === null ? '' : `more: --cursor ${next}\n`;
    return printResult(input, io, { data, next }, table + more);
  },
};

/** Long values are whole in `--json`. */
function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

/** @throws UsageError */
function readNumber(text: string, option: string, largest: number): number {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= largest) return number;
  throw new UsageError(`--${option}: expected a whole number from 1 to ${largest}`);
}
