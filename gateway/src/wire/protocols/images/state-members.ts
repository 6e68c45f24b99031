import { namedStateReader } from '../shared/state/named-state.ts';

/** The members of a request in JSON that name something stored upstream. Responses give out no such names. */
export const readNamedState = namedStateReader({
  root: {},
  anywhere: { file_id: { kind: 'file' } },
  opaque: [],
});
