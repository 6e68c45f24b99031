import type { ClientItem } from '#canonical/index.ts';
import { isRecord, type JsonRecord } from '../../shared/values.ts';

/** Where the arguments of the function are in an item, and how the ids of such items begin. */
const shapes: Readonly<
  Record<
    ClientItem,
    { readonly id: string; readonly members: (call: JsonRecord) => JsonRecord | null }
  >
> = {
  shell_call: { id: 'sh', members: shellMembers },
  local_shell_call: { id: 'lsh', members: localShellMembers },
  apply_patch_call: { id: 'apc', members: patchMembers },
  computer_call: { id: 'cu', members: computerMembers },
  tool_search_call: {
    id: 'tsc',
    members: (call) => ({ arguments: call, execution: 'client' }),
  },
};

/**
 * A call of a tool that the client runs, as the item that its type has.
 * @param id of an item, by the beginning that its kind has
 * @returns null if the arguments cannot be read as such a call: a client must not run the half of it
 */
export function clientRunItem(
  item: ClientItem,
  callId: string,
  text: string,
  id: (prefix: string) => string,
): JsonRecord | null {
  const call = parse(text);
  const members = call === null ? null : shapes[item].members(call);
  if (members === null) return null;
  return {
    // The results of this kind name the item alone.
    id: item === 'local_shell_call' ? callId : id(shapes[item].id),
    type: item,
    call_id: callId,
    ...members,
    status: 'completed',
  };
}

function parse(text: string): JsonRecord | null {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

/** Models give a single command as a text. */
function listOf(value: unknown): readonly string[] | null {
  if (typeof value === 'string' && value !== '') return [value];
  if (!Array.isArray(value) || value.length === 0) return null;
  return value.every((each) => typeof each === 'string') ? value : null;
}

const numberOf = (value: unknown) => (typeof value === 'number' ? value : null);

function shellMembers(call: JsonRecord): JsonRecord | null {
  const commands = listOf(call['commands']);
  if (commands === null) return null;
  const timeout_ms = numberOf(call['timeout_ms']);
  const max_output_length = numberOf(call['max_output_length']);
  return {
    action: { commands, timeout_ms, max_output_length },
    environment: { type: 'local' },
  };
}

function localShellMembers(call: JsonRecord): JsonRecord | null {
  const { env, timeout_ms: timeout, user, working_directory: directory } = call;
  const { command: writtenCommand } = call;
  // A line is for a shell; its words are not ours to divide.
  const command =
    typeof writtenCommand === 'string' && writtenCommand !== ''
      ? ['bash', '-lc', writtenCommand]
      : listOf(writtenCommand);
  if (command === null) return null;
  return {
    action: {
      type: 'exec',
      command,
      env: isRecord(env) ? env : {},
      ...(typeof timeout === 'number' && { timeout_ms: timeout }),
      ...(typeof user === 'string' && { user }),
      ...(typeof directory === 'string' && { working_directory: directory }),
    },
  };
}

function patchMembers({ type, path, diff }: JsonRecord): JsonRecord | null {
  if (typeof path !== 'string' || path === '') return null;
  if (type === 'delete_file') return { operation: { type, path } };
  if (type !== 'create_file' && type !== 'update_file') return null;
  return typeof diff === 'string' ? { operation: { type, path, diff } } : null;
}

function computerMembers(call: JsonRecord): JsonRecord | null {
  const { actions } = call;
  const isAction = (value: unknown) => isRecord(value) && typeof value['type'] === 'string';
  if (Array.isArray(actions)) {
    return actions.length > 0 && actions.every(isAction)
      ? { actions, pending_safety_checks: [] }
      : null;
  }
  return isAction(call) ? { action: call, pending_safety_checks: [] } : null;
}
