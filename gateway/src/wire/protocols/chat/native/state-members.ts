import { namedStateReader, type StateName } from '../../named-state.ts';
import { recordsIn } from '../../input-extent.ts';
import { recordAt, type JsonRecord } from '../../values.ts';

/** Which members of a request name something that the upstream keeps. */
export const readNamedState = namedStateReader({
  root: { previous_response_id: { kind: 'response' } },
  anywhere: {
    file_id: { kind: 'file' },
    file_ids: { kind: 'file' },
    vector_store_ids: { kind: 'vector-store' },
    container_id: { kind: 'container' },
    // What the model said earlier; elsewhere the settings of its voice.
    audio: { kind: 'audio', objectOnly: true },
    // By its name it is one of the vendor's.
    voice: { kind: 'voice', objectOnly: true },
  },
  opaque: [
    'parameters',
    'schema',
    'json_schema',
    'arguments',
    'metadata',
    'annotations',
    'logit_bias',
  ],
});

/** Spoken answers, which later requests name. */
export function readGivenState(answer: JsonRecord): readonly StateName[] | undefined {
  const given: StateName[] = [];
  for (const choice of recordsIn(answer['choices'])) {
    const { id } = recordAt(recordAt(choice, 'message'), 'audio');
    if (typeof id === 'string') given.push({ kind: 'audio', id });
  }
  return given.length === 0 ? undefined : given;
}
