import type { CodecTraits } from '../../codec.ts';
import { digest } from '../values.ts';

/** The names of tools that an upstream accepts. */
export type ToolNameRule = Pick<CodecTraits, 'toolName' | 'toolNameLength'>;

/** A tool that needs a name for an upstream. */
export interface UnnamedTool {
  /** Identifies the tool. The new name depends on nothing else. */
  readonly key: string;
  /** The preferred name. */
  readonly name: string;
  /** The client wrote the preferred name; it was not composed. */
  readonly isOwn: boolean;
}

/** Every upstream accepts this length, so that a changed name is the same for all of them. */
const renamedLength = 64;

/**
 * Names that the upstream accepts, by key. A valid name stays. An invalid one is cleaned, cut and gets a suffix derived
 * from the original, so that it is the same in every turn, whatever other tools there are.
 */
export function planToolNames(
  tools: readonly UnnamedTool[],
  rule: ToolNameRule,
): ReadonlyMap<string, string> {
  const keptNames = new Set<string>();
  for (const { name, isOwn } of tools) if (isOwn && isToolName(name, rule)) keptNames.add(name);
  const names = new Map<string, string>();
  const takenNames = new Set<string>();
  for (const { key, name, isOwn } of tools) {
    if (names.has(key)) continue;
    const stays =
      isToolName(name, rule) && (isOwn || !keptNames.has(name)) && !takenNames.has(name);
    const upstreamName = stays
      ? name
      : renamed(
          name,
          key,
          rule,
          (candidate) => keptNames.has(candidate) || takenNames.has(candidate),
        );
    names.set(key, upstreamName);
    takenNames.add(upstreamName);
  }
  return names;
}

export function isToolName(name: string, { toolName, toolNameLength }: ToolNameRule): boolean {
  return name.length <= toolNameLength && toolName.test(name);
}

function renamed(
  name: string,
  key: string,
  { toolNameLength }: ToolNameRule,
  isTaken: (candidate: string) => boolean,
): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, '_');
  const clean = /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
  const length = Math.min(renamedLength, toolNameLength);
  for (let digits = 6; ; digits += 2) {
    const suffix = `_${digest(digits, key)}`;
    const candidate = clean.slice(0, length - suffix.length) + suffix;
    if (!isTaken(candidate)) return candidate;
  }
}
