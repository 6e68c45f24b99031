/** How reasoning state begins that this gateway sealed for a client: what it writes, and what it wrote one version ago. */
const marks = ['gw2.', 'gw1.'];

/** An envelope around somebody's reasoning state, by its first characters; whether it opens is not known yet. */
export function isEnvelope(text: string): boolean {
  return marks.some((mark) => text.startsWith(mark));
}
