import { createVariableNames, Placeholder } from '#declaration/index.ts';

/**
 * Notes for a person: what could not be imported, and which variables the written file needs. Texts name settings,
 * channels and models of the other gateway, and never a value that may be a secret.
 */
export interface Notes {
  readonly warnings: readonly string[];
  readonly variables: readonly string[];
  warn(sentence: string): void;
  /** One sentence for a setting of many entries: `timeout` of `gpt-4o`, of `fast`, … */
  leftOut(setting: string, of: string): void;
  /** Names of variables that already have a meaning and are used for no secret. */
  reserve(names: Iterable<string>): void;
  /** A variable that the other gateway reads too. */
  variable(name: string): Placeholder;
  /** A variable for a secret that is in the other file, or missing from its export. */
  secret(owner: string, what: string): Placeholder;
}

/** For up to this many entries a setting is named; further entries are counted. */
const mostNames = 3;

/** The notes for one file. */
export function createNotes(): Notes {
  const sentences: string[] = [];
  const settings = new Map<string, Set<string>>();
  const variables = new Set<string>();
  const takenTexts = new Set<string>();
  const nameOf = createVariableNames(takenTexts);
  const use = (name: string): Placeholder => {
    takenTexts.add(name);
    variables.add(name);
    return new Placeholder(name);
  };
  return {
    get warnings() {
      const list = Array.from(settings, ([setting, owners]) => {
        const names = [...owners];
        const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : '';
        return `${setting} of ${names.slice(0, mostNames).join(', ')}${more}: not imported`;
      });
      return [...sentences, ...list];
    },
    get variables() {
      return [...variables];
    },
    warn(sentence) {
      if (!sentences.includes(sentence)) sentences.push(sentence);
    },
    leftOut(setting, of) {
      settings.set(setting, (settings.get(setting) ?? new Set()).add(of));
    },
    reserve(names) {
      for (const name of names) takenTexts.add(name);
    },
    variable: use,
    secret: (owner, what) => use(nameOf(owner, what)),
  };
}
