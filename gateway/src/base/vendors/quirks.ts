import type { TextProtocolName } from '#canonical/index.ts';

/** A member that one vendor refuses although its protocol has it, declared as an edit of the request. */
export interface Quirk {
  /** Stable and unique: usage rows and `x-sluice-rewrites` name it, and docs/vendors.md explains it. */
  readonly id: `p${number}`;
  readonly protocol: TextProtocolName;
  /** Upstream names of the models it applies to. Absent: all models. */
  readonly models?: RegExp;
  readonly edit: QuirkEdit;
}

/**
 * A member by its path: `logit_bias`, `stream_options.include_usage`, or `messages[].name` for each element of a list.
 * `drop` removes it; with `value`, only where it has that value. `rename` renames it within its object, or removes it if
 * the object already has the other name. `replace` gives it another value where it has this one. `modernize` writes the
 * schema in it in the words of JSON Schema 2020-12.
 */
export type QuirkEdit =
  | { readonly drop: string; readonly value?: string | number | boolean }
  | { readonly rename: string; readonly to: string }
  | { readonly replace: string; readonly value: string; readonly by: string }
  | { readonly modernize: string };

/** Of servers that know the developer's instructions by their older role only. */
export const developerAsSystem: QuirkEdit = {
  replace: 'messages[].role',
  value: 'developer',
  by: 'system',
};

/**
 * A repair of docs/repairs.md that a vendor of another protocol needs in native requests too. Converted requests get it for
 * every upstream.
 */
export type VendorRepair = 'b12' | 'b36' | 'b41';

/** The quirks that apply to one request, and the repairs. Plain data: it is sent to other threads. */
export type QuirksOfRequest = readonly (
  | Pick<Quirk, 'id' | 'edit'>
  | { readonly id: VendorRepair; readonly edit: { readonly repair: VendorRepair } }
)[];
