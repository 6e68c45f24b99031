import type { ClientItem, FunctionTool } from '#canonical/index.ts';
import { isRecord, type JsonRecord } from '../../shared/values.ts';

/*
 * Tools that the client runs and that only this protocol has: the vendor's models know what a type such as `shell`
 * stands for. Any other model gets a function that says the same, and its calls go to the client as items of the type.
 */

interface Described {
  readonly item: ClientItem;
  readonly description: string;
  readonly schema: JsonRecord;
}

const text = { type: 'string' };
const number = { type: 'integer' };
const texts = { type: 'array', items: text };

function object(properties: JsonRecord, ...required: readonly string[]): JsonRecord {
  return { type: 'object', properties, required, additionalProperties: false };
}

const shell: Described = {
  item: 'shell_call',
  description:
    "Runs commands in a shell on the user's machine and returns what they print and how they end. " +
    'The commands run one after another.',
  schema: object(
    {
      commands: { ...texts, description: 'Each is a line for the shell.' },
      timeout_ms: { ...number, description: 'Milliseconds after which the commands are ended.' },
      max_output_length: { ...number, description: 'Characters after which the output is cut.' },
    },
    'commands',
  ),
};

const localShell: Described = {
  item: 'local_shell_call',
  description: "Runs a program on the user's machine and returns what it prints.",
  schema: object(
    {
      command: { ...texts, description: 'The program and its arguments, as for execve.' },
      env: { type: 'object', additionalProperties: text, description: 'Environment variables.' },
      working_directory: text,
      timeout_ms: { ...number, description: 'Milliseconds after which the program is ended.' },
      user: { ...text, description: 'The user who runs it.' },
    },
    'command',
  ),
};

const applyPatch: Described = {
  item: 'apply_patch_call',
  description:
    'Creates, changes or deletes one file. The diff of a new file has all of its lines, each after a "+". ' +
    'The diff of a change has one or more sections. A section begins with a line "@@", which may name the ' +
    'class or function it is in; then come about three unchanged lines, each after a space, removed lines after ' +
    '"-", added lines after "+", and about three unchanged lines. There are no line numbers and no file headers.',
  schema: object(
    {
      type: { ...text, enum: ['create_file', 'update_file', 'delete_file'] },
      path: { ...text, description: 'The file, relative to the working directory.' },
      diff: { ...text, description: 'Not for delete_file.' },
    },
    'type',
    'path',
  ),
};

const point = { x: number, y: number };

const action = object(
  {
    type: {
      ...text,
      enum: [
        'click',
        'double_click',
        'drag',
        'keypress',
        'move',
        'screenshot',
        'scroll',
        'type',
        'wait',
      ],
    },
    ...point,
    button: {
      ...text,
      enum: ['left', 'right', 'wheel', 'back', 'forward'],
      description: 'Of a click.',
    },
    keys: { ...texts, description: 'Of a keypress; or held down during another action.' },
    path: { type: 'array', items: object(point, 'x', 'y'), description: 'Of a drag.' },
    scroll_x: number,
    scroll_y: number,
    text: { ...text, description: 'What is typed.' },
  },
  'type',
);

const screen = 'Acts on a screen of the user and returns a picture of it afterwards.';

const computer: Described = {
  item: 'computer_call',
  description: `${screen} Coordinates are pixels of the last picture.`,
  schema: object({ actions: { type: 'array', items: action } }, 'actions'),
};

/** The tool as a function; null for a tool that the client does not run, or that only the vendor's models can use. */
export function clientRunTool(tool: JsonRecord): FunctionTool | null {
  const described = describe(tool);
  if (described === null) return null;
  const { item, description, schema } = described;
  return {
    type: 'function',
    name: String(tool['type']),
    description,
    schema,
    strict: null,
    typed: { protocol: 'responses', value: tool },
    item,
  };
}

function describe(tool: JsonRecord): Described | null {
  switch (tool['type']) {
    case 'shell': {
      // In a container, the vendor runs it.
      const { environment } = tool;
      const isLocal = !isRecord(environment) || environment['type'] === 'local';
      return isLocal ? shell : null;
    }
    case 'local_shell':
      return localShell;
    case 'apply_patch':
      return applyPatch;
    case 'computer':
      return computer;
    case 'computer_use_preview': {
      const { display_width: width, display_height: height, environment } = tool;
      const size = `It is ${String(width)} pixels wide and ${String(height)} high (${String(environment)}).`;
      return { ...computer, description: `${screen} ${size}`, schema: action };
    }
    case 'tool_search': {
      const { description, parameters, execution } = tool;
      if (execution !== 'client' || !isRecord(parameters)) return null;
      return {
        item: 'tool_search_call',
        description: typeof description === 'string' ? description : 'Finds further tools.',
        schema: parameters,
      };
    }
    default:
      return null;
  }
}
