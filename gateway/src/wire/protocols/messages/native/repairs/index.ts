import type { Edit } from '#json/index.ts';
import { recordAt, type JsonRecord } from '../../../shared/values.ts';
import { Draft, type RepairContext } from './draft.ts';
import { editsBetween } from './edits.ts';
import { rules } from './table.ts';

export type { RepairContext } from './draft.ts';
export { factsOf } from './model-facts.ts';
export { readNumeral, readYesNo } from './spelling.ts';
export { isSuspect } from './suspicion.ts';

export interface Repairs {
  readonly edits: readonly Edit[];
  /** Ids of the rules that changed something, by number. */
  readonly ids: readonly string[];
  /** The client's names of renamed tools, by their new names. */
  readonly toolNames: ReadonlyMap<string, string>;
}

/**
 * Repairs what an upstream of this protocol would refuse, and rewrites only what differs.
 * @param changes members to set in any case; undefined removes one
 * @throws GatewayError `invalid_value` for what cannot be repaired without guessing.
 */
export function repair(
  body: Buffer,
  json: JsonRecord,
  changes: JsonRecord,
  context: RepairContext,
): Repairs {
  const draft = new Draft(json, changes, context);
  const applied = isContinued(json) ? rules.filter(({ id }) => !ofHistory.has(id)) : rules;
  const ids = applied.filter(({ apply }) => apply(draft)).map(({ id }) => id);
  const { root, origins, toolNames } = draft;
  const edits = root === json ? [] : editsBetween(body, json, root, origins);
  return { edits, ids, toolNames };
}

/** Rules that need the conversation before the first message. */
const ofHistory: ReadonlySet<string> = new Set(['b10', 'b17', 'b18', 'b26', 'b34']);

/** The upstream has the conversation, and the request only what is new. */
function isContinued(json: JsonRecord): boolean {
  return recordAt(json, 'thread')['type'] === 'continue';
}
