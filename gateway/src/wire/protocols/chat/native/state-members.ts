import { namedStateReader, type StateName } from '../../shared/state/named-state.ts';
import { recordsIn } from '../../shared/text/input-extent.ts';
import { recordAt, type JsonRecord } from '../../shared/values.ts';

/** The members of a request that name something stored upstream. */
export const readNamedState = namedStateReader({
  root: { previous_response_id: { kind: 'response' } },
  anywhere: {
    file_id: { kind: 'file' },
    file_ids: { kind: 'file' },
    vector_store_ids: { kind: 'vector-store' },
    container_id: { kind: 'container' },
    // In messages an earlier spoken response; elsewhere the settings of the voice.
    audio: { kind: 'audio', objectOnly: true },
    // A string is the name of one of the vendor's voices.
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

/** The spoken responses, which later requests may name. */
export function readGivenState(response: JsonRecord): readonly StateName[] | undefined {
  const given: StateName[] = [];
  for (const choice of recordsIn(response['choices'])) {
    const { id } = recordAt(recordAt(choice, 'message'), 'audio');
    if (typeof id === 'string') given.push({ kind: 'audio', id });
  }
  return given.length === 0 ? undefined : given;
}
