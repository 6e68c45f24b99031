/** Groups of a person or a team, as their column has them. */
export const groupsToText = (groups: readonly string[]): string => JSON.stringify(groups);

/** The groups of such a text. */
export const groupsFromText = (text: string): readonly string[] =>
  JSON.parse(text) as readonly string[];
