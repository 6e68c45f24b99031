import type { Extensions } from '#canonical/index.ts';
import type { EncodeTarget } from '../../../codec.ts';
import type { Losses } from '../../../shared/text/losses.ts';

/** Shared by all steps that encode one request. */
export interface EncodeContext {
  readonly target: EncodeTarget;
  readonly losses: Losses;
}

/** The extensions of this protocol's clients, as members again. */
export function ownMembers(extensions: Extensions | undefined): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  if (extensions === undefined) return members;
  for (const { protocol, name, value } of extensions) {
    if (protocol === 'chat') members[name] = value;
  }
  return members;
}
