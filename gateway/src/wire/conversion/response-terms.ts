import type { TextProtocolName } from '#canonical/index.ts';
import type { ResponseContext } from '#protocols/index.ts';
import type { ClientTool } from './tools/tool-names.ts';

/** Everything needed to read the responses to a converted request; plain data, fixed when the request was encoded. */
export interface ResponseTerms {
  readonly context: ResponseContext;
  readonly client: TextProtocolName;
  readonly upstream: TextProtocolName;
  /** By the names that the upstream received. */
  readonly clientTools: ReadonlyMap<string, ClientTool>;
  /** Who can read the state in the responses: `makerId`. */
  readonly maker: string;
  /** `placeOf` the conversation. */
  readonly place: string;
  /** The team or user that the responses belong to. */
  readonly owner: string;
}
