import { en } from '../words/en.ts';
import type { Say, TextName } from '../words/index.ts';

/** A role in words; one that a newer gateway knows keeps its own name. */
export const roleText = (role: string, say: Say): string =>
  Object.hasOwn(en.people.roleNames, role) ? say(`people.roleNames.${role}` as TextName) : role;
