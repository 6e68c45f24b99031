import { type Declared, kinds } from '#config/index.ts';
import type { Change } from '#database/index.ts';
import {
  applyDeclaration,
  compareFields,
  createDefaultGroup,
  EarlierFile,
  fieldsOf,
  type FileRevision,
  laterFile,
  type Plan,
  putInForce,
} from '#declaration/index.ts';
import type { Actor, AuditEntry } from './audit.ts';
import { type Administration, perform } from './perform.ts';

/**
 * Makes the database what a file declares: all of it or nothing. Applying the same file again changes nothing and
 * records nothing. Gives what was done.
 * @param revision `takesOver`: put it in force although a later one is, and let it have what was created in the console
 * @throws EarlierFile if a later file is in force.
 * @throws DeclarationConflict when an entry's name belongs to the console or a reference cannot be met.
 */
export function applyFile(
  administration: Administration,
  actor: Actor,
  declaredFile: Declared,
  revision: FileRevision & { readonly takesOver?: boolean },
): Promise<Plan> {
  const { takesOver = false, ...file } = revision;
  return perform(administration, actor, async (change) => {
    const later = takesOver ? null : await laterFile(change.trx, file);
    if (later !== null) throw new EarlierFile(later);
    await putInForce(change, file);
    const plan = await applyDeclaration(change, declaredFile, takesOver);
    const auditEntries = plan.steps.map(({ action, kind, name, fields }) => ({
      action,
      subject: { kind, name },
      fields,
    }));
    return { result: plan, auditEntries: [...auditEntries, ...(await defaultGroup(change))] };
  });
}

/** Creates what exists without any file: the group `default`. Changes nothing if it exists. */
export function ensureDefaultGroup(administration: Administration, actor: Actor): Promise<void> {
  return perform(administration, actor, async (change) => ({
    result: undefined,
    auditEntries: await defaultGroup(change),
  }));
}

async function defaultGroup(change: Change): Promise<AuditEntry[]> {
  const group = await createDefaultGroup(change);
  if (group === null) return [];
  const fields = compareFields({}, fieldsOf(kinds.group, group));
  return [{ action: 'create', subject: { kind: 'group', name: group.name }, fields }];
}
