import type { TextProtocolName } from '#canonical/index.ts';
import type { AnswerContext } from '#protocols/index.ts';
import type { ClientTool } from './tools/tool-names.ts';

/** What reading the answers to a converted request takes, fixed when the request was encoded: plain data. */
export interface AnswerTerms {
  readonly answer: AnswerContext;
  readonly client: TextProtocolName;
  readonly upstream: TextProtocolName;
  /** By the names that the upstream was given. */
  readonly clientTools: ReadonlyMap<string, ClientTool>;
  /** Who can read the state in the answers: `makerId`. */
  readonly maker: string;
  /** The team or user whom the answers are for. */
  readonly owner: string;
}
