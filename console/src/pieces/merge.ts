/** Something that two people may have changed: a member of an object, or a part of one. */
export interface Change {
  readonly member: string;
  /** Null: the member has no parts. */
  readonly part: string | null;
  readonly before: unknown;
  readonly theirs: unknown;
  readonly yours: unknown;
}

type Members = Readonly<Record<string, unknown>>;

/** An absent value is the same as none. */
export const same = (a: unknown, b: unknown): boolean =>
  JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

/**
 * What two people have made of one object: where both have changed something, yours counts.
 * @param yours only its members are compared
 * @param withParts the members whose parts are changed by themselves; `undefined`: there is no such part
 */
export function mergeMembers(
  before: object,
  theirs: object,
  yours: object,
  withParts: readonly string[] = [],
): { readonly merged: Members; readonly changes: readonly Change[] } {
  const versions = [before, theirs, yours] as readonly Members[];
  const changes: Change[] = [];
  const decide = (member: string, part: string | null, of: (version: Members) => unknown) => {
    const [a, b, c] = versions.map(of);
    const isYours = !same(a, c);
    if (isYours || !same(a, b)) changes.push({ member, part, before: a, theirs: b, yours: c });
    return isYours ? c : b;
  };
  const decideParts = (member: string): Members => {
    const partsOf = (version: Members | undefined) => (version?.[member] ?? {}) as Members;
    // As the other person left them, then what is new, then what is gone.
    const names = new Set([1, 2, 0].flatMap((at) => Object.keys(partsOf(versions[at]))));
    const parts = [...names].map(
      (part) => [part, decide(member, part, (version) => partsOf(version)[part])] as const,
    );
    return Object.fromEntries(parts.filter(([, value]) => value !== undefined));
  };
  const merged = Object.keys(yours).map((member) => {
    const value = withParts.includes(member)
      ? decideParts(member)
      : decide(member, null, (version) => version[member]);
    return [member, value] as const;
  });
  return { merged: Object.fromEntries(merged), changes };
}
