import type { UpstreamFailure } from './vendor.ts';

/** The parts of an error body that vendors agree on, whatever the wrapping. Empty strings when absent. */
export interface FailureFields {
  readonly type: string;
  readonly code: string;
  readonly status: string;
  readonly message: string;
  readonly param: string;
}

export function failureFields(failure: UpstreamFailure): FailureFields {
  const error = member(failure.body, 'error') ?? failure.body;
  return {
    type: text(member(error, 'type')),
    code: text(member(error, 'code')),
    status: text(member(error, 'status')),
    message: typeof error === 'string' ? error : messageOf(error),
    param: text(member(error, 'param')),
  };
}

/** A router says of its upstream's error no more than that there was one, and has it as text (OpenRouter). */
function messageOf(error: unknown): string {
  const wrapped = text(member(member(error, 'metadata'), 'raw'));
  const message = text(member(error, 'message'));
  return wrapped === '' ? message : `${message} ${wrapped}`;
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
