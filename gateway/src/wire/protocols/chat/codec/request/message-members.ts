import type { OpaqueBlock, Extensions } from '#canonical/index.ts';
import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import { leftovers } from './request-fields.ts';
import type { EncodeTarget } from '../../../codec.ts';
import type { Losses } from '../../../shared/text/losses.ts';

/** Turns have no extensions. A message's unknown members travel as opaque blocks, whose names have this prefix. */
const prefix = 'message.';

/** Members that do not matter to another model: annotations of an earlier response. */
const harmless = new Set(['annotations', 'id', 'status', 'index']);

export function messageLeftovers(
  message: JsonRecord,
  knownMembers: ReadonlySet<string>,
): OpaqueBlock[] {
  return leftovers(message, knownMembers)
    .filter(({ value }) => !isEmpty(value))
    .map(({ name, value }) => memberBlock(name, value, harmless.has(name) ? 'ignore' : 'drop'));
}

/** Servers and client libraries fill unused members with empty values. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isRecord(value)) return Object.values(value).every((item) => isEmpty(item));
  return value === '' || value === null || value === undefined || value === 0;
}

function memberBlock(
  name: string,
  value: unknown,
  ifForeign: OpaqueBlock['ifForeign'],
  text?: string,
): OpaqueBlock {
  const block = {
    type: 'opaque',
    protocol: 'chat',
    name: `${prefix}${name}`,
    value,
    ifForeign,
  } as const;
  return text === undefined ? block : { ...block, text };
}

/** The name of the member in the block. Null if the block is a part of the content. */
export function memberName(block: OpaqueBlock): string | null {
  return block.name.startsWith(prefix) ? block.name.slice(prefix.length) : null;
}

/** Shared by all steps that encode one request. */
export interface EncodeContext {
  readonly target: EncodeTarget;
  readonly losses: Losses;
}

/** The extensions of this protocol's clients, as members again. */
export function ownMembers(extensions: Extensions | undefined): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  if (extensions === undefined) return members;
  for (const { protocol, name, value } of extensions) {
    if (protocol === 'chat') members[name] = value;
  }
  return members;
}
