import type { TextProtocolName } from '#canonical/index.ts';

/** Something that one vendor refuses although its protocol has it, declared as an edit of the request. */
export interface Quirk {
  /** Stable and used once: it stands in usage rows and in `x-sluice-rewrites`, and docs/vendors.md explains it. */
  readonly id: `p${number}`;
  readonly protocol: TextProtocolName;
  /** The upstream's names of the models that it holds for. Absent: all of them. */
  readonly models?: RegExp;
  readonly edit: QuirkEdit;
}

/**
 * Where the member is: `logit_bias`, `stream_options.include_usage`, or `messages[].name` for each element of a list.
 * `drop` takes it out. `rename` gives it another name in the same object, unless that one is there: then it is dropped.
 */
export type QuirkEdit =
  | { readonly drop: string }
  | { readonly rename: string; readonly to: string };

/** What a request for one model of a vendor has to be edited by. Plain data: it is sent to other threads. */
export type QuirksOfRequest = readonly Pick<Quirk, 'id' | 'edit'>[];

const none: QuirksOfRequest = Object.freeze([]);

/** What a vendor refuses of a request for one of its models. Undefined: an upstream that nobody knows. */
export function quirksFor(
  vendor: { readonly quirks?: readonly Quirk[] } | undefined,
  protocol: TextProtocolName,
  model: string,
): QuirksOfRequest {
  if (vendor?.quirks === undefined) return none;
  return vendor.quirks
    .filter((quirk) => quirk.protocol === protocol && (quirk.models?.test(model) ?? true))
    .map(({ id, edit }) => ({ id, edit }));
}
