import {
  functions,
  isReadInThread,
  type ArgsOf,
  type BodyPool,
  type RunningCall,
  type ValueOf,
} from '#body-work/index.ts';
import { GatewayError } from '#errors/index.ts';
import { ClientGone, type ExchangeInput } from '../exchange.ts';
import type { Ticker } from '../ticker.ts';
import { clientDeadline } from './deadlines.ts';
import { ReadingResponse, ResponseTooComplex } from './response-reader.ts';

/** What it takes to work on a body in a thread. */
export interface ThreadParts {
  readonly bodies: BodyPool;
  readonly ticker: Pick<Ticker, 'add'>;
}

type WaitingInput = Pick<ExchangeInput, 'body' | 'client' | 'headers' | 'startedAt'>;
type OnRequest =
  | 'openEmbeddings'
  | 'openImages'
  | 'openVideo'
  | 'openChatImages'
  | 'openContentsImages';
type Rest<Name extends OnRequest> = Omit<Parameters<(typeof functions)[Name]>[0], 'body' | 'room'>;

/**
 * Calls a function with the body of a request: here, or in a thread if it is large.
 * @throws GatewayError, ClientGone; or rejects with one of them
 */
export function callOnBody<Name extends OnRequest>(
  { bodies, ticker }: ThreadParts,
  input: WaitingInput & Pick<ExchangeInput, 'caller' | 'memory'>,
  name: Name,
  rest: Rest<Name>,
): ValueOf<Name> | Promise<ValueOf<Name>> {
  const { body, memory: room } = input;
  if (!isReadInThread(body, bodies.weights)) {
    return (functions[name] as (args: unknown) => ValueOf<Name>)({ ...rest, body, room });
  }
  const args = { ...rest, body } as Parameters<typeof bodies.run<Name>>[2];
  return waitWithClient(ticker, input, args, bodies.run(input.caller.keyId, name, args));
}

/**
 * Waits for a thread that works on a request's body, but no longer than the client does. The body is put back into the
 * request when the thread has finished, successfully or not.
 * @param lentBody has the body when it has come back
 * @throws GatewayError, ClientGone
 */
export async function waitWithClient<Value>(
  ticker: Pick<Ticker, 'add'>,
  input: WaitingInput,
  lentBody: { readonly body: Buffer },
  running: RunningCall<Value>,
): Promise<Value> {
  const { body: handedBody } = lentBody;
  const deadline = clientDeadline(input);
  const ticks = ticker.add({
    tick(now) {
      if (input.client.disconnected) running.cancel(new ClientGone());
      else if (now >= deadline) running.abandon(new GatewayError('unavailable'));
    },
    end: (error) => running.abandon(error),
  });
  try {
    return await running.result;
  } finally {
    if (lentBody.body !== handedBody) input.body = lentBody.body;
    ticks.end();
  }
}

type OnResponse = 'readEmbeddings' | 'readImages' | 'readConvertedImages';

/**
 * Calls a function with a complete response: here, or in a thread if it is large.
 * @param keyId keys take turns at the threads
 * @throws UnreadableResponse
 */
export function callOnResponse<Name extends OnResponse>(
  bodies: BodyPool,
  keyId: string,
  name: Name,
  args: ArgsOf<Name> & { body: Buffer },
): ValueOf<Name> | ReadingResponse<ValueOf<Name>> {
  if (args.body.length >= bodies.weights.response) {
    return readingInThread(bodies.run(keyId, name, args));
  }
  return (functions[name] as (args: unknown) => ValueOf<Name>)(args);
}

/** A complete response that a thread reads. */
export function readingInThread<Value>(running: RunningCall<Value>): ReadingResponse<Value> {
  const abandon = () => running.abandon(new GatewayError('unavailable'));
  return new ReadingResponse(running.result.catch(threadRefused), abandon);
}

/** @throws ResponseTooComplex when a thread gave up, otherwise the error itself. */
function threadRefused(error: unknown): never {
  const isTooComplex = error instanceof GatewayError && error.errorName === 'too_complex';
  throw isTooComplex ? new ResponseTooComplex('a thread gave up', { cause: error }) : error;
}
