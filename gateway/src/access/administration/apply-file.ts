import type { Declared } from '#config/index.ts';
import { applyDeclaration, type Plan } from '#declaration/index.ts';
import type { Actor } from './actor.ts';
import { type Administration, perform } from './perform.ts';

/**
 * Makes the database what a file declares: all of it or nothing. Applying the same file again changes nothing and
 * records nothing. Gives what was done.
 * @throws DeclarationConflict when an entry's name belongs to the console or a reference cannot be met.
 */
export function applyFile(
  administration: Administration,
  actor: Actor,
  declared: Declared,
): Promise<Plan> {
  const { dialect } = administration.database;
  return perform(administration, actor, async (change) => {
    const plan = await applyDeclaration(change, dialect, declared);
    const audited = plan.steps.map(({ action, kind, name, fields }) => ({
      action,
      subject: { kind, name },
      fields,
    }));
    return { result: plan, audited };
  });
}
