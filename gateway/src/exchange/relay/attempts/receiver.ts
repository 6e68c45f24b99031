import type { CollectedBody } from '#bodies/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { UpstreamCall, UpstreamError, UpstreamHeaders } from '#upstream/index.ts';
import type { UnitsRecord } from '#usage/index.ts';
import type { AttemptFailure, OutcomeOf } from './outcome.ts';
import type { ReadingResponse } from './response-reader.ts';

/** Takes the response of one attempt, in one of its forms, and ends the attempt with it. */
export interface Receiver<Result, Seen> {
  /** Set before anything is called. */
  attempt: ReceivedAttempt<Result, Seen>;
  /** `pieces`: bytes of any form, as they come. `events`: a stream, although it may come whole. */
  readonly takes: 'whole' | 'pieces' | 'events';
  /** How many milliseconds a response is drained after its client has left. */
  readonly drainMs: number;
  /** What a response is that cannot be read, for the usage row. Absent: `unreadable`. */
  readonly unreadable?: string;
  /** The client has the head of the response. Absent: it has not. */
  readonly isOpened?: boolean;
  /** The client has seen some of the response. Absent: it has not. */
  readonly isShown?: boolean;
  /** What is known of a response that has no end. Absent: nothing. */
  readonly seenResponse?: Seen;
  /** What the upstream has made so far, apart from tokens. Absent: nothing that is counted. */
  readonly madeUnits?: UnitsRecord;
  /** The usage is about to come. */
  readonly awaitsUsage?: boolean;

  /** A response without an error has begun. */
  begin?(): void;

  /** Takes the next bytes of pieces or events. */
  take?(chunk: Buffer): void;

  /** Pieces or events have ended. */
  end?(): void;

  /** Checks what has come of a response that comes whole. */
  check?(body: CollectedBody): void;

  /** Reads a response that has come whole. */
  read?(body: CollectedBody): void;

  /** The call broke. Returns whether the receiver has ended the attempt. */
  broke?(error: UpstreamError): boolean;

  /** What a failure is after what the client has seen. Absent: it has seen nothing. */
  failed?(failure: AttemptFailure): OutcomeOf<Result, Seen>;

  /** Completes the response if nothing is missing although its client has left. Returns whether it has. */
  completes?(): boolean;

  /** Nothing more is shown, because the client has left. */
  letGo?(): void;

  /** Completes a response that is complete as time shows. Returns whether it has. */
  settle?(now: number): boolean;

  /** @param now the monotonic time */
  tick?(now: number): void;

  /** The gateway stops. Returns whether the receiver has ended the attempt. */
  stop?(): boolean;

  /** Called once, with the end of the attempt. */
  release?(outcome: OutcomeOf<Result, Seen>): void;
}

/** An attempt, as its receiver sees and ends it. */
export interface ReceivedAttempt<Result, Seen> {
  /** Of the response; 0: none has begun. */
  readonly status: number;
  readonly upstreamHeaders: UpstreamHeaders;
  readonly call: UpstreamCall;
  /** The monotonic time. */
  readonly startedAt: number;
  /** The outcome is settled. */
  readonly over: boolean;
  /** The client has left, and gets nothing more; the response is read anyway. */
  readonly isLeft: boolean;
  /** It is read for its cost, and there is a slot for that. */
  readonly hasDrainSlot: boolean;
  /** The client has left a stream of which only the cost is of interest. */
  readonly isDraining: boolean;

  /**
   * Reserves memory as a response grows. False: there is none, and the attempt has ended.
   * @param bytes that have come of it
   * @param most that may come
   * @param declaredBytes how many its upstream has announced: several that are half read would refuse each other
   */
  hasRoom(bytes: number, most: number, declaredBytes?: number): boolean;

  /** Gives back the memory beyond these bytes, of a response that is complete. */
  fitRoom(bytes: number): void;

  /** A response that came whole is taken as events from here on. */
  takeAsEvents(): void;

  /**
   * Waits for what a thread reads. It is abandoned if the attempt ends before.
   * @throws what the thread throws; `failReading` takes it
   */
  awaitReading<Value>(reading: ReadingResponse<Value>): Promise<Value>;

  /** A complete response could not be read, or must not be shown. If the attempt is over, only a defect matters. */
  failReading(error: unknown): void;

  /** The upstream broke off, or its response violates its protocol: its connection is not kept. */
  cut(result: string): void;

  /** The exchange is ended for a reason that no channel has caused. */
  endWith(error: GatewayError, result: string): void;

  fail(failure: AttemptFailure): void;

  /** Ends the attempt, whose client has left. */
  leave(): void;

  /** @param isEarly the upstream has not ended the body. */
  complete(response: Result, isEarly?: boolean): void;

  finish(outcome: OutcomeOf<Result, Seen>): void;
}
