import type { Result } from '../api/client.ts';
import type { Say } from '../words/index.ts';

type Place = NonNullable<Result<'listAliases'>['data'][number]['declared_in']>;

/** Such as "sluice.yaml:31, channels[2]". */
export const placeText = ({ file, line, path }: Place): string => `${file}:${line}, ${path}`;

/** Such as "Change it in sluice.yaml, line 31 (channels[2])." @param entry one of the file */
export const changeIn = (
  { declared_in: place }: { readonly declared_in: Place | null },
  say: Say,
): string => (place === null ? say('keys.ofFile') : say('keys.ofFileAt', place));
