import { namedStateReader, type StateName } from '../../named-state.ts';
import { recordsIn } from '../../input-extent.ts';
import { recordAt, type JsonRecord } from '../../values.ts';

/** Which members of a request name something that the upstream keeps. */
export const readNamedState = namedStateReader({
  root: { container: { kind: 'container' } },
  anywhere: {
    file_id: { kind: 'file' },
    // The vendor's own have no such beginning.
    skill_id: { kind: 'skill', idOf: (text) => (text.startsWith('skill_') ? text : null) },
  },
  // `input`: of a call; `citations`: where an earlier answer had something from.
  opaque: ['input', 'input_schema', 'schema', 'metadata', 'citations'],
});

/** The container that an answer ran in, and the files it made there. */
export function readGivenState(answer: JsonRecord): readonly StateName[] | undefined {
  const given: StateName[] = [];
  const { id } = recordAt(answer, 'container');
  if (typeof id === 'string') given.push({ kind: 'container', id });
  for (const block of recordsIn(answer['content'])) given.push(...filesOf(block));
  return given.length === 0 ? undefined : given;
}

/** The files that a block of a tool's result names: `{type: …_tool_result, content: {content: [{file_id}]}}`. */
export function filesOf(block: JsonRecord): StateName[] {
  return [...recordsIn(recordAt(block, 'content')['content'])].flatMap(({ file_id: id }) =>
    typeof id === 'string' ? [{ kind: 'file', id } as const] : [],
  );
}
