import type { FunctionTool } from '#canonical/index.ts';
import { type JsonRecord, optionalText } from '../../../shared/values.ts';
import { decodeBase } from './extensions.ts';

/*
 * Tools that the client runs and that the vendor's models know by a dated type: `bash_20250124`. Any other model gets a
 * function of the same name whose arguments are the input that clients expect of that type.
 */

interface Described {
  readonly description: string;
  readonly schema: JsonRecord;
}

type Describe = (tool: JsonRecord) => Described;

const text = { type: 'string' };
const number = { type: 'integer' };
const pair = { type: 'array', items: number, minItems: 2, maxItems: 2 };

function object(properties: JsonRecord, ...required: readonly string[]): JsonRecord {
  return { type: 'object', properties, required, additionalProperties: false };
}

const path = { ...text, description: 'An absolute path.' };
const range = {
  ...pair,
  description: 'Of view: the first and the last line, counted from 1; -1 is the end.',
};
const edits = {
  file_text: { ...text, description: 'Of create: the whole file.' },
  old_str: { ...text, description: 'Of str_replace: a text that occurs exactly once.' },
  new_str: { ...text, description: 'Of str_replace: what replaces it.' },
  insert_line: { ...number, description: 'Of insert: after which line; 0 is the beginning.' },
  insert_text: { ...text, description: 'Of insert: the text.' },
};

const described: readonly (readonly [prefix: string, describe: Describe])[] = [
  ['bash_', describeBash],
  ['text_editor_', describeEditor],
  ['memory_', describeMemory],
  ['computer_', describeComputer],
];

const members = new Set([
  'type',
  'name',
  'cache_control',
  'max_characters',
  'display_width_px',
  'display_height_px',
  'display_number',
  'enable_zoom',
]);

/** The tool as a function; null for any other tool. */
export function clientRunTool(tool: JsonRecord, type: string): FunctionTool | null {
  const describe = described.find(([prefix]) => type.startsWith(prefix))?.[1];
  const name = optionalText(tool['name']);
  if (describe === undefined || name === null) return null;
  return {
    type: 'function',
    name,
    ...describe(tool),
    strict: null,
    typed: { protocol: 'messages', value: tool },
    ...decodeBase(tool, members),
  };
}

function describeBash(): Described {
  return {
    description:
      "Runs a command in a bash session on the user's machine, which keeps its state between calls, and returns what " +
      'it prints. With restart, a new session begins instead.',
    schema: object({ command: text, restart: { type: 'boolean' } }),
  };
}

/** Clients of the older types undo edits and expect the inserted text under another name. */
const olderEditor = /_(?:20241022|20250124)$/;

function describeEditor({ type, max_characters: most }: JsonRecord): Described {
  const isOlder = olderEditor.test(String(type));
  const { insert_text, ...others } = edits;
  const newText = { ...text, description: 'Of str_replace and insert: the new text.' };
  const commands = ['view', 'create', 'str_replace', 'insert'];
  const isCut = typeof most === 'number';
  return {
    description:
      "Shows, creates and changes text files on the user's machine. A view of a directory lists it; a view of a file " +
      `numbers its lines${isCut ? ` and ends after ${most} characters` : ''}.`,
    schema: object(
      {
        command: { ...text, enum: isOlder ? [...commands, 'undo_edit'] : commands },
        path,
        ...others,
        ...(isOlder ? { new_str: newText } : { insert_text }),
        view_range: range,
      },
      'command',
      'path',
    ),
  };
}

function describeMemory(): Described {
  return {
    description:
      'Keeps notes in files below /memories that last beyond this conversation. Look there before you begin, and write ' +
      'down what will be needed later. A view of a directory lists it.',
    schema: object(
      {
        command: { ...text, enum: ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'] },
        path: { ...text, description: 'Begins with /memories. Not for rename.' },
        ...edits,
        old_path: { ...text, description: 'Of rename.' },
        new_path: { ...text, description: 'Of rename.' },
        view_range: range,
      },
      'command',
    ),
  };
}

const actions = [
  'key',
  'type',
  'mouse_move',
  'left_click',
  'left_click_drag',
  'right_click',
  'middle_click',
  'double_click',
  'triple_click',
  'left_mouse_down',
  'left_mouse_up',
  'screenshot',
  'cursor_position',
  'scroll',
  'hold_key',
  'wait',
];

function describeComputer(tool: JsonRecord): Described {
  const { display_width_px: width, display_height_px: height, enable_zoom: zooms } = tool;
  const isSized = typeof width === 'number' && typeof height === 'number';
  const size = isSized ? ` It is ${width} pixels wide and ${height} high.` : '';
  return {
    description: `Acts on a screen of the user and returns a picture of it.${size} Coordinates are [x, y] in pixels.`,
    schema: object(
      {
        action: { ...text, enum: zooms === true ? [...actions, 'zoom'] : actions },
        coordinate: pair,
        start_coordinate: { ...pair, description: 'Of left_click_drag.' },
        text: {
          ...text,
          description: 'What is typed, or the key; a key that is held down while clicking.',
        },
        scroll_direction: { ...text, enum: ['up', 'down', 'left', 'right'] },
        scroll_amount: number,
        duration: { type: 'number', description: 'Of hold_key and wait, in seconds.' },
        ...(zooms === true && {
          region: { ...pair, minItems: 4, maxItems: 4, description: 'Of zoom: x0, y0, x1, y1.' },
        }),
      },
      'action',
    ),
  };
}
