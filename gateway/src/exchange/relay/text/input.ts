import type { TextOperationName, TextProtocolName } from '#canonical/index.ts';
import type { ExchangeInput } from '../exchange/input.ts';

/** A request of one of the text endpoints. */
export interface TextInput extends ExchangeInput {
  readonly protocol: TextProtocolName;
  readonly operation: TextOperationName;
  /** How a streamed response is framed: `json-array` is generate-content without `alt=sse`. */
  readonly framing: 'event-stream' | 'json-array';
}
