import type { OtherGateway } from './other-gateways/index.ts';
import {
  type Command,
  type CommandInput,
  type CommandIo,
  commonOptions,
  exitCode,
  printJson,
} from '#commands/command.ts';

const options = {
  output: { type: 'string', value: 'FILE', help: 'write to this file, which must not exist yet' },
  json: commonOptions.json,
} as const;

const both = `Prints a configuration file, and on stderr what could not be imported. Secrets are never written:
the file names environment variables, and the end of the output lists which to set.`;

export const importLitellm = importCommand('litellm', 'the config.yaml of a LiteLLM proxy');

export const importNewApi = importCommand(
  'new-api',
  'the JSON response of GET /api/channel/ of new-api or one-api',
);

function importCommand(gateway: OtherGateway, source: string): Command {
  return {
    name: `import ${gateway}`,
    description: `FILE is ${source}.\n${both}`,
    options,
    positionals: ['FILE'],
    run: (input, io) => importGateway(gateway, input, io),
  };
}

async function importGateway(
  gateway: OtherGateway,
  input: CommandInput,
  io: CommandIo,
): Promise<number> {
  const { readInput } = await import('./read-input.ts');
  const { toFileText } = await import('#declaration/index.ts');
  const { createNotes, readOtherGateway, toFile } = await import('./other-gateways/index.ts');
  const [source = ''] = input.positionals;
  const notes = createNotes();
  const draft = readOtherGateway(gateway, await readInput(io, source), notes);
  const file = toFile(draft, notes);
  const isEmpty = draft.channels.length === 0;
  const text = toFileText(`Written by sluice import ${gateway}.`, file);
  const output = input.text('output');
  if (output !== undefined && !isEmpty) {
    await writeNew(io, output, text);
  }
  if (input.flag('json')) {
    const { parse } = await import('yaml');
    printJson(io, {
      file: parse(text) as unknown,
      warnings: notes.warnings,
      variables: notes.variables,
    });
  } else {
    if (output === undefined && !isEmpty) io.stdout(text);
    io.stderr(notes.warnings.map((warning) => `warning: ${warning}\n`).join(''));
    if (notes.variables.length > 0)
      io.stderr(`set these variables: ${notes.variables.join(', ')}\n`);
  }
  if (isEmpty && !input.flag('json')) io.stderr('sluice: nothing could be imported\n');
  return isEmpty ? exitCode.failed : exitCode.done;
}

/** Readable by its owner only, although it contains no secret: it says where the secrets are. */
async function writeNew(io: CommandIo, file: string, text: string): Promise<void> {
  const { writeFile } = await import('node:fs/promises');
  const { resolve } = await import('node:path');
  try {
    await writeFile(resolve(io.workingDirectory ?? '.', file), text, { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === 'EEXIST' ? 'it already exists' : message;
    throw new Error(`${file}: cannot be written: ${reason}`, { cause });
  }
}
