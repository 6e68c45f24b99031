import type { UpstreamFailure } from './vendor.ts';

/** The parts of an error body that say what is wrong, whatever the wrapping. */
export interface FailureFields {
  /** Codes, types, status words and reasons, the most exact ones first. */
  readonly words: readonly string[];
  /** Empty if there is none. */
  readonly message: string;
  /** Empty if there is none. */
  readonly param: string;
}

/** This much of a text is read. */
const longestText = 20_000;

/** Members with codes, types and status words. AWS calls it `__type`, TGI `error_type`, MiniMax `status_code`. */
const wordMembers = ['code', 'type', 'status', '__type', 'error_type', 'error_code', 'status_code'];

/** Members with the text. MiniMax calls it `status_msg`, FastAPI `detail`. */
const textMembers = ['message', 'error', 'status_msg', 'error_msg', 'msg', 'detail'];

/**
 * The error is the body, or one of its members: a list of errors counts as its first (Gemini's stream, Cloudflare).
 */
export function failureFields({ body }: Pick<UpstreamFailure, 'body'>): FailureFields {
  const top = firstOf(body);
  const inner = ['error', 'errors', 'base_resp', 'detail'].map((name) =>
    firstOf(member(top, name)),
  );
  const error = inner.find((value) => typeof value === 'object' && value !== null) ?? top;
  const places = error === top ? [top] : [error, top];
  return {
    words: [...places.flatMap((place) => textsOf(place, wordMembers)), ...reasonsOf(error)],
    message: messageOf(error, top).slice(0, longestText),
    param: text(member(error, 'param')),
  };
}

/** Google's ErrorInfo in `details`, Azure's `innererror`, OpenRouter's `metadata`. */
function reasonsOf(error: unknown): string[] {
  const details = member(error, 'details');
  const places = [
    ...(Array.isArray(details) ? (details as unknown[]) : []),
    member(error, 'innererror'),
    member(error, 'metadata'),
  ];
  return places.flatMap((place) => textsOf(place, ['reason', 'code', 'error_type']));
}

/** A router says of its upstream's error no more than that there was one, and has it as text (OpenRouter). */
function messageOf(error: unknown, top: unknown): string {
  if (typeof error === 'string') return error;
  const [message = ''] = [...textsOf(error, textMembers), ...textsOf(top, textMembers)];
  const raw = text(member(member(error, 'metadata'), 'raw'));
  return raw === '' ? message : `${message} ${raw}`;
}

function textsOf(value: unknown, names: readonly string[]): string[] {
  return names.map((name) => text(member(value, name))).filter((each) => each !== '');
}

function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? (value as unknown[])[0] : value;
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : '';
}
