import { request as sendRequest, type Agent, type IncomingMessage } from 'node:http';
import { watchTerminator } from './terminator.ts';

/** Times in milliseconds since the request was due; null for events that never happened. */
export interface LoadResult {
  readonly status: number | null;
  /** First byte of the response's head. */
  readonly timeToFirstByte: number | null;
  /** First `data:` of the body of a stream, first byte of any other body. */
  readonly timeToFirstEvent: number | null;
  /** Pauses between the chunks of the body. */
  readonly gaps: readonly number[];
  readonly maxGap: number;
  readonly total: number;
  readonly bytes: number;
  /** The whole response arrived, with the terminator of its protocol if it was a stream. */
  readonly completed: boolean;
  /** The reason for a failure; null if completed. */
  readonly failure: LoadFailure | null;
}

/** `connect`: no response. `status`: not 2xx. `cut`: the body broke off. `error-event`: in the stream. */
export type LoadFailure =
  | 'connect'
  | 'timeout'
  | 'status'
  | 'cut'
  | 'error-event'
  | 'no-terminator';

export interface LoadRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly agent: Agent;
  readonly stream: boolean;
  readonly timeoutMs: number;
  /** `performance.now()` of the moment the request was due: waiting for a connection counts. */
  readonly due: number;
}

/** Sends one request and measures its response. Never rejects. */
export function measureRequest(load: LoadRequest): Promise<LoadResult> {
  return new Promise((resolve) => {
    const since = () => performance.now() - load.due;
    const fail = (failure: LoadFailure) => resolve({ ...nothing, total: since(), failure });
    const { url, method, headers, agent, body } = load;
    const request = sendRequest(url, {
      method,
      agent,
      headers: { ...headers, 'content-length': body.length },
    });
    const timer = setTimeout(() => {
      fail('timeout');
      request.destroy();
    }, load.timeoutMs);
    timer.unref();
    request.on('error', () => fail('connect'));
    request.once('close', () => clearTimeout(timer));
    request.once('response', (response) => measureBody(response, load, since, resolve));
    request.end(body);
  });
}

const nothing = {
  status: null,
  timeToFirstByte: null,
  timeToFirstEvent: null,
  gaps: [],
  maxGap: 0,
  bytes: 0,
  completed: false,
};

function measureBody(
  response: IncomingMessage,
  load: LoadRequest,
  since: () => number,
  resolve: (result: LoadResult) => void,
): void {
  const timeToFirstByte = since();
  const terminator = watchTerminator();
  const gaps: number[] = [];
  let timeToFirstEvent: number | null = null;
  let previous: number | null = null;
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    const now = since();
    bytes += chunk.length;
    if (previous !== null) gaps.push(now - previous);
    previous = now;
    if (load.stream) terminator.see(chunk);
    const isEvent = !load.stream || chunk.includes('data:') || chunk.includes('{');
    if (isEvent) timeToFirstEvent ??= now;
  });
  response.on('error', () => undefined);
  response.once('close', () => {
    const status = response.statusCode ?? 0;
    const failure = failureOf(status, response.complete, load.stream, terminator);
    resolve({
      status,
      timeToFirstByte,
      timeToFirstEvent,
      gaps,
      maxGap: gaps.reduce((most, gap) => Math.max(most, gap), 0),
      total: since(),
      bytes,
      completed: failure === null,
      failure,
    });
  });
}

function failureOf(
  status: number,
  arrived: boolean,
  stream: boolean,
  terminator: { readonly complete: boolean; readonly failed: boolean },
): LoadFailure | null {
  if (status < 200 || status > 299) return 'status';
  if (!arrived) return 'cut';
  if (!stream) return null;
  if (terminator.failed) return 'error-event';
  return terminator.complete ? null : 'no-terminator';
}
