import type { SurchargeFacts } from '#vendors/index.ts';
import type { SentRequest } from '../exchange/tried.ts';

/** What is known about a text request that was sent. */
export interface TextSent extends SentRequest {
  /** What its upstream charges for besides tokens. */
  readonly surcharges: SurchargeFacts;
  /** See `Vendor`. */
  readonly hidesReasoningInTotal: boolean;
}
