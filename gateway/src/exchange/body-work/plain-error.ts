import { MediaWanted, type WantedMedia } from '#conversion/index.ts';
import { GatewayError, type ErrorName } from '#errors/index.ts';

/** An error in the form that crosses threads; classes do not. */
export type PlainError =
  | {
      readonly kind: 'gateway';
      readonly name: ErrorName;
      readonly message: string;
      readonly param: string | null;
    }
  | { readonly kind: 'media-wanted'; readonly wanted: readonly WantedMedia[] }
  /** A defect of the gateway. */
  | { readonly kind: 'defect'; readonly message: string; readonly stack: string | undefined };

export function plainError(error: unknown): PlainError {
  if (error instanceof GatewayError) {
    const { errorName: name, message, param } = error;
    return { kind: 'gateway', name, message, param };
  }
  if (error instanceof MediaWanted) return { kind: 'media-wanted', wanted: error.wanted };
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { kind: 'defect', message, stack };
}

/** Why a request is refused is a result, too: the model is checked before the refusal counts. */
export function factsOrRefusal<Facts>(make: () => Facts): Facts | PlainError {
  try {
    return make();
  } catch (error) {
    return plainError(error);
  }
}

/** Restores the error as it was thrown, without its cause. */
export function errorOf(plain: PlainError): Error {
  switch (plain.kind) {
    case 'gateway': {
      const { name, message, param } = plain;
      const error = new GatewayError(name, param === null ? {} : { param });
      // The holes of the catalogue's message were filled where the error was thrown.
      return Object.assign(error, { message });
    }
    case 'media-wanted':
      return new MediaWanted(plain.wanted);
    case 'defect':
      return Object.assign(new Error(plain.message), { stack: plain.stack });
  }
}

export function isPlainError(value: object): value is PlainError {
  return 'kind' in value;
}
