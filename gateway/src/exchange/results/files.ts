import type { TaskMembers } from '#canonical/index.ts';

/** A file that a task made, at its vendor. */
export interface NamedLink {
  /** Where the link stands in the members: `output` and `video_url`. */
  readonly section: string;
  readonly member: string;
  readonly url: string;
}

/** A copy of such a file. */
export interface KeptFile extends Pick<NamedLink, 'section' | 'member'> {
  readonly name: string;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** All files of a task. The vendor's side lets only addresses be members of such names. */
export function linksIn(members: TaskMembers): NamedLink[] {
  return Object.entries(members).flatMap(([section, values]) =>
    isObject(values)
      ? Object.entries(values).flatMap(([member, url]) =>
          member.endsWith('_url') && typeof url === 'string' ? [{ section, member, url }] : [],
        )
      : [],
  );
}

/** The members with the addresses of copies instead. */
export function withCopies(
  members: TaskMembers,
  files: readonly KeptFile[],
  addressOf: (name: string) => string,
): TaskMembers {
  return files.reduce<TaskMembers>(
    (shownMembers, { section, member, name }) => ({
      ...shownMembers,
      [section]: { ...(shownMembers[section] as object), [member]: addressOf(name) },
    }),
    members,
  );
}

const types: Readonly<Record<string, string>> = {
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
};
/** For whatever else it is: a browser keeps it and does not open it. */
const unknownType = 'application/octet-stream';

/** What a copy is called: by what it is, as its sender says, else by the end of its address. */
export function nameOf({ member, url }: NamedLink, mime: string): string {
  const knownEnding = Object.entries(types).find(([, type]) => type === mime)?.[0];
  const [, end = ''] = /\.([a-z0-9]+)$/i.exec(new URL(url).pathname) ?? [];
  const ending =
    knownEnding ?? (Object.hasOwn(types, end.toLowerCase()) ? end.toLowerCase() : 'bin');
  return `${member.slice(0, -'_url'.length)}.${ending}`;
}

/** The media type of a copy. */
export function typeOf(name: string): string {
  return types[name.slice(name.lastIndexOf('.') + 1)] ?? unknownType;
}
