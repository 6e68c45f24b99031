import type { Loss, ReportedUsage } from '#canonical/index.ts';
import type { KeptState } from '#conversion/index.ts';
import type { StateName } from '#protocols/index.ts';
import type { Unreadable } from './unreadable.ts';

/** What a thread made of a complete response. */
export type ResponseResult =
  | {
      readonly kind: 'whole';
      /** For the client. */
      readonly body: Uint8Array;
      readonly usage: ReportedUsage | null;
      readonly given: readonly StateName[] | undefined;
      /** An estimate; null if the usage reports the tokens. */
      readonly outputTokens: number | null;
      /** What the client's protocol cannot express. */
      readonly losses: readonly Loss[];
      /** State to remember, by call. */
      readonly kept: readonly (readonly [call: string, kept: KeptState])[];
    }
  /** Events of the upstream's protocol instead of a complete response. */
  | { readonly kind: 'stream'; readonly body: Uint8Array }
  | Unreadable;
