import type { IncomingHttpHeaders } from 'node:http';
import type { FaultVoice } from '../faults/distort.ts';
import type { Shape } from '../scenario/scenario.ts';
import type { Signer } from '../scenario/signature.ts';
import type { Tasks } from '../videos/tasks.ts';
import type { FormPart } from './form.ts';
import type { Reply } from './reply.ts';

/** One request as an endpoint sees it: received, authenticated, parsed, without its fault. */
export interface Call {
  /** The requested model, without a fault suffix; '' if the request names none. */
  readonly model: string;
  /** Undefined for a form. */
  readonly body: unknown;
  /** The parts of a multipart body; null for any other. */
  readonly form: readonly FormPart[] | null;
  readonly headers: IncomingHttpHeaders;
  readonly query: URLSearchParams;
  /** The id in the path; '' if the path has none. */
  readonly id: string;
  /** A fault replaces the response by an error, so that nothing may happen. */
  readonly isRefused: boolean;
  readonly identity: string;
  readonly shape: Shape;
}

/** State that the endpoints of one simulator share. */
export interface World {
  readonly signer: Signer;
  /** Seconds since the epoch for `created` fields; a constant unless a clock was injected. */
  created(): number;
  /** Video tasks, of both vendors. */
  readonly tasks: Tasks;
}

export type Endpoint = (call: Call) => Reply;

/** One vendor's check of credentials and form of failures. */
export interface Protocol extends FaultVoice {
  /** @throws Rejection without a credential in this vendor's scheme. */
  authenticate(headers: IncomingHttpHeaders, query: URLSearchParams): void;
}
