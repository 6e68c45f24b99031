import type { Loss, LossName, Unconvertible } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';

/** Clients invent field names of any length; this much of a name goes into a header and a row. */
const nameLimit = 64;
const countLimit = 32;

/** The losses of one attempt, without duplicates. */
export class LossList {
  readonly #losses = new Map<string, Loss>();

  add(loss: Loss): void {
    const name = printable(loss.what);
    this.#losses.set(`${loss.how} ${name}`, { what: name, how: loss.how });
  }

  dropped(what: LossName): void {
    this.add({ what, how: 'dropped' });
  }

  approximated(what: LossName): void {
    this.add({ what, how: 'approximated' });
  }

  /** Sorted by name. */
  all(): readonly Loss[] {
    return [...this.#losses.values()].toSorted((a, b) => compare(a.what, b.what));
  }
}

/** For the usage row: `dropped:seed`. */
export function lossCodes(losses: readonly Loss[]): string[] {
  return losses.slice(0, countLimit).map(({ what, how }) => `${how}:${what}`);
}

/** The value of `x-sluice-conversion`, which ends in the number of further ones; null without losses. */
export function lossHeader(losses: readonly Loss[]): string | null {
  const shown = losses.slice(0, countLimit);
  const names = (how: Loss['how']) =>
    shown
      .filter((loss) => loss.how === how)
      .map(({ what }) => what)
      .join(',');
  const dropped = names('dropped');
  const approximated = names('approximated');
  const parts = [];
  if (dropped !== '') parts.push(`dropped=${dropped}`);
  if (approximated !== '') parts.push(`approx=${approximated}`);
  if (parts.length === 0) return null;
  const more = losses.length - shown.length;
  return `${parts.join('; ')}${more > 0 ? `,+${more}` : ''}`;
}

function printable(what: string): string {
  return what.slice(0, nameLimit).replace(/[^\w.[\]-]/g, '_');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The client's name for what a loss names. */
type FieldName = (what: string) => string;

/** The error for a part that cannot be converted. */
export function refusalOf(error: Unconvertible, fieldName: FieldName): GatewayError {
  const param = error.param ?? fieldName(error.what);
  const reason = `${error.message} (${param})`;
  const details = error.what === 'thread' ? noThreads : undefined;
  return new GatewayError('invalid_value', {
    values: { reason },
    param,
    cause: error,
    ...(details !== undefined && { details }),
  });
}

/** With this the SDK sends the whole conversation instead. */
const noThreads = Object.freeze({
  error_code: 'thread_unsupported_request',
  unsupported: Object.freeze(['model']),
});

/** @throws GatewayError `invalid_value` for the first loss, if there is one. */
export function refuseLosses([first]: readonly Loss[], fieldName: FieldName): void {
  if (first === undefined) return;
  const param = fieldName(first.what);
  const what = first.how === 'dropped' ? 'cannot be passed on' : 'can only be approximated';
  const reason = `'${param}' ${what} to this model, and this key does not permit lossy conversion`;
  throw new GatewayError('invalid_value', { values: { reason }, param });
}
