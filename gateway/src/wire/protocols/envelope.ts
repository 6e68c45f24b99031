/** Prefixes of reasoning state that this gateway sealed for a client, in this version and in the previous one. */
const marks = ['gw2.', 'gw1.'];

/** Whether a text looks like an envelope around reasoning state. It may still fail to open. */
export function isEnvelope(text: string): boolean {
  return marks.some((mark) => text.startsWith(mark));
}
