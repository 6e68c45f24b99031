import type { Loss, ReportedUsage } from '#canonical/index.ts';
import type { AnswerReader, KeptState } from '#conversion/index.ts';
import {
  estimateOutputTokens,
  isRecord,
  textProtocols,
  UnreadableAnswer,
  type StateName,
  type WireResponse,
} from '#protocols/index.ts';
import { asBuffer } from './bytes.ts';
import type { Job } from './jobs.ts';
import { beginsAsEvents, streamOf, wholeOf, type WireProtocol } from './other-form.ts';

/** An answer is held in memory before the client sees it; this bounds it. */
export const largestAnswer = 64 * 1024 * 1024;

/** What a thread made of a whole answer. */
export type AnswerResult =
  | {
      readonly kind: 'whole';
      /** For the client. */
      readonly body: Uint8Array;
      readonly usage: ReportedUsage | null;
      readonly given: readonly StateName[] | undefined;
      /** An estimate; null where the usage tells them. */
      readonly outputTokens: number | null;
      /** What the client's protocol has no place for. */
      readonly losses: readonly Loss[];
      /** What is to be remembered, by call. */
      readonly kept: readonly (readonly [call: string, kept: KeptState])[];
    }
  /** Events of the upstream's protocol, in the place of its whole answer. */
  | { readonly kind: 'stream'; readonly body: Uint8Array }
  /** As `UnreadableAnswer` says it. */
  | {
      readonly kind: 'unreadable';
      readonly message: string;
      readonly error: unknown;
      readonly usage: ReportedUsage | null;
    };

/**
 * Reads a whole answer, which some upstreams send as a stream although none was asked.
 * @param wire what the upstream speaks; null: it answers in no other form
 * @throws UnreadableAnswer
 */
export function readWholeAnswer(
  body: Buffer,
  wire: WireProtocol | null,
  reader: Pick<AnswerReader, 'readResponse'>,
  echo: Parameters<AnswerReader['readResponse']>[1],
): WireResponse {
  const whole =
    wire !== null && beginsAsEvents(body)
      ? wholeOf(body, wire, echo.upstreamModel, largestAnswer)
      : body;
  return reader.readResponse(whole, echo);
}

/**
 * @param reader the client's side of a converted answer; null: the client speaks as the upstream does.
 * @param learnt what reading it brings besides, for the main thread.
 */
export function readAnswerJob(
  { body, upstream, echo, form }: Extract<Job, { kind: 'answer' }>,
  reader: AnswerReader | null,
  learnt: () => Pick<Extract<AnswerResult, { kind: 'whole' }>, 'losses' | 'kept'>,
): AnswerResult {
  const wire = textProtocols[upstream];
  const bytes = asBuffer(body);
  try {
    if (form === 'stream') {
      return { kind: 'stream', body: streamOf(bytes, wire, echo.upstreamModel) };
    }
    const answer = readWholeAnswer(bytes, wire, reader ?? wire, echo);
    const { given } = answer;
    return { kind: 'whole', ...answer, given, outputTokens: estimateOf(answer), ...learnt() };
  } catch (error) {
    if (!(error instanceof UnreadableAnswer)) throw error;
    const { message, usage } = error;
    return { kind: 'unreadable', message, error: essence(error.body), usage };
  }
}

function estimateOf({ body, usage }: WireResponse): number | null {
  if (usage !== null && usage.untold === undefined) return null;
  return estimateOutputTokens(JSON.parse(body.toString('utf8')));
}

/** As much of an error as is read of any error answer: enough to classify it. */
const errorLength = 64 * 1024;
const memberLength = 4 * 1024;

/** An error goes to the main thread, which is not to be given a large answer in it. */
function essence(body: unknown): unknown {
  if (!isRecord(body) || JSON.stringify(body).length <= errorLength) return body;
  return {
    ...scalarsOf(body),
    ...(isRecord(body['error']) && { error: scalarsOf(body['error']) }),
  };
}

function scalarsOf(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const scalars: Record<string, unknown> = {};
  for (const name of ['error', 'type', 'code', 'status', 'message', 'param']) {
    const value = record[name];
    if (typeof value === 'string') scalars[name] = value.slice(0, memberLength);
    else if (typeof value === 'number') scalars[name] = value;
  }
  return scalars;
}
