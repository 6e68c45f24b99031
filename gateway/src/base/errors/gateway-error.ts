import { catalogue, type CatalogueEntry, type ErrorName } from './catalogue.ts';

export interface GatewayErrorOptions {
  /** Fills the `{holes}` of the catalogue's message. */
  readonly values?: Readonly<Record<string, string>>;
  /** The request field at fault, as the client spelled it (chat's `error.param`). */
  readonly param?: string;
  /** For programs: what SDKs act on besides the status. Only messages has a place for it (`error.details`). */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Seconds after which the same request can succeed; becomes `Retry-After`. Integer, at least 1. Default: the catalogue's. */
  readonly retryAfter?: number;
  /** Extra response headers, for example `allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The underlying error. For the log only, never for the client. */
  readonly cause?: unknown;
}

/** The only error that carries a response to a client: a catalogue entry and the values for it. */
export class GatewayError extends Error {
  readonly errorName: ErrorName;
  readonly entry: CatalogueEntry;
  readonly param: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;
  readonly retryAfter: number | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(errorName: ErrorName, options: GatewayErrorOptions = {}) {
    const entry: CatalogueEntry = catalogue[errorName];
    const message = entry.message.replace(/\{(\w+)\}/g, (_, hole: string) =>
      printable(options.values?.[hole] ?? ''),
    );
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'GatewayError';
    this.errorName = errorName;
    this.entry = entry;
    this.param = options.param === undefined ? null : printable(options.param);
    this.details = options.details ?? null;
    this.retryAfter = options.retryAfter ?? entry.retryAfter ?? null;
    this.headers = options.headers ?? {};
  }
}

const longestText = 200;

/** Client text that an error echoes: without control characters, of bounded length. */
function printable(text: string): string {
  // Cut first: a name may be as long as the body.
  const short = text.length > longestText ? `${text.slice(0, longestText)}…` : text;
  // oxlint-disable-next-line no-control-regex -- control characters are exactly what must go
  return short.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '\ufffd');
}
