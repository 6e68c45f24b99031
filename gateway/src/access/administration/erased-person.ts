/** Who is erased, and what stands in the place of it from then on. */
export interface ErasedPerson {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  /** In the place of the address. It belongs to nobody: `.invalid` has no hosts. */
  readonly newEmail: string;
}

export const erasedName = '(erased)';

/** What a person is called after the erasure: by the id, which the books and sums have anyway. */
export function erasedEmail(id: string): string {
  return `${id.toLowerCase()}@erased.invalid`;
}

/**
 * Replaces the address and the name of a person in a text, in capitals or not.
 * @param isTheirs whether the text is about this person. Elsewhere a name of one word may be any word
 */
export function withoutPerson(
  text: string,
  { email, name, newEmail }: ErasedPerson,
  isTheirs: boolean,
): string {
  const replaced = replaceWords(text, email, addressEdges, newEmail);
  if (name === null || name === '' || !(isTheirs || /\S\s+\S/.test(name))) return replaced;
  return replaceWords(replaced, name, nameEdges, erasedName);
}

/** The same in all texts of a JSON value; the same object if there is nothing to replace. */
export function jsonWithoutPerson(json: string, person: ErasedPerson, isTheirs: boolean): string {
  return JSON.stringify(JSON.parse(json), (_, value: unknown) =>
    typeof value === 'string' ? withoutPerson(value, person, isTheirs) : value,
  );
}

/** What continues a word, before and after it. */
interface Edges {
  readonly before: RegExp;
  readonly after: RegExp;
}

/** `ada@example.com` is no part of `canada@example.com` or `ada@example.com.au`. */
const addressEdges: Edges = {
  before: /[\p{L}\p{N}_.+-]$/u,
  after: /^(?:[\p{L}\p{N}_]|[.-][\p{L}\p{N}])/u,
};
const nameEdges: Edges = { before: /[\p{L}\p{N}]$/u, after: /^[\p{L}\p{N}]/u };
/** As many characters decide. */
const edgeLength = 2;

function replaceWords(text: string, words: string, { before, after }: Edges, by: string): string {
  const lower = [text.toLowerCase(), words.toLowerCase()] as const;
  // A few letters have another length in lower case: then only the same letters count.
  const isAligned = lower[0].length === text.length && lower[1].length === words.length;
  const [whole, sought] = isAligned ? lower : [text, words];
  let result = '';
  let from = 0;
  for (let at = whole.indexOf(sought); at !== -1; at = whole.indexOf(sought, at + 1)) {
    const end = at + words.length;
    const isPart =
      before.test(text.slice(Math.max(0, at - edgeLength), at)) ||
      after.test(text.slice(end, end + edgeLength));
    if (at < from || isPart) continue;
    result += text.slice(from, at) + by;
    from = end;
  }
  return result + text.slice(from);
}
