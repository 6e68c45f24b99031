import type { Edit } from '#json/index.ts';
import type { JsonRecord } from '../../../values.ts';
import { Draft, type RepairContext } from './draft.ts';
import { editsBetween } from './edits.ts';
import { rules } from './table.ts';

export type { RepairContext } from './draft.ts';
export { factsOf } from './model-facts.ts';
export { readNumeral, readYesNo } from './spelling.ts';
export { isSuspect } from './suspicion.ts';

export interface Repairs {
  readonly edits: readonly Edit[];
  /** Of the rules that found something, by number. */
  readonly ids: readonly string[];
  /** The client's names of tools that were given others, by those. */
  readonly toolNames: ReadonlyMap<string, string>;
}

/**
 * Mends what an upstream of this protocol would refuse, and writes only what differs.
 * @param changes members of the request that are to be others in any case; undefined removes one.
 * @throws GatewayError `invalid_value` for what cannot be mended without guessing.
 */
export function repair(
  body: Buffer,
  json: JsonRecord,
  changes: JsonRecord,
  context: RepairContext,
): Repairs {
  const draft = new Draft(json, changes, context);
  const ids = rules.filter(({ apply }) => apply(draft)).map(({ id }) => id);
  const { root, origins, toolNames } = draft;
  const edits = root === json ? [] : editsBetween(body, json, root, origins);
  return { edits, ids, toolNames };
}
