import type { Writable } from 'node:stream';
import { pino, type Logger as PinoLogger } from 'pino';
import { GatewayError } from '#errors/index.ts';
import type { FinishedExchange } from './exchange.ts';
import { createLineSink, openStandardError } from './line-sink.ts';
import { requestLineOf } from './request-line.ts';

/**
 * The operator's log: JSON lines on stderr. Typed entry points by allow-list, so that no caller can pass a whole
 * request, header object or body along.
 */
export interface Logger {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  /** Writes name, message, code and stack of `error`, and nothing else of it; null: there is none. */
  error(message: string, error: unknown, fields?: LogFields): void;
  /** Writes the line of one finished exchange. */
  request(exchange: FinishedExchange): void;
  /** Lines dropped because the reader was too slow. */
  readonly droppedLines: number;
}

export interface ClosableLogger extends Logger {
  /** For the end of the process: waits at most a second for the reader. */
  close(): Promise<void>;
}

export interface LogFields {
  readonly requestId?: string;
  readonly channel?: string;
  readonly component?: string;
  readonly count?: number;
  readonly durationMs?: number;
  readonly detail?: string;
}

const infoLevel = 30;

/** Never waits for the reader of the log. Problems are written at once, request lines in batches. */
export function createLogger(destination: Writable = openStandardError()): ClosableLogger {
  const sink = createLineSink(destination);
  process.once('exit', sink.flush);
  const log: PinoLogger = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, sink);
  const isoTime = createIsoTime();
  return {
    info(message, fields = {}) {
      log.info(fields, message);
      sink.flush();
    },
    warn(message, fields = {}) {
      log.warn(fields, message);
      sink.flush();
    },
    error(message, error, fields = {}) {
      log.error(error === null ? fields : { ...fields, error: describe(error) }, message);
      sink.flush();
    },
    request(exchange) {
      if (!sink.hasRoom) {
        sink.drop();
        return;
      }
      const line = requestLineOf(exchange);
      // A fixed record in the same shape as pino's lines, at a fifth of the cost.
      sink.write(
        `${JSON.stringify({ level: infoLevel, time: isoTime(), ...line, msg: 'request' })}\n`,
      );
    },
    get droppedLines() {
      return sink.droppedLines;
    },
    close() {
      process.off('exit', sink.flush);
      return sink.close();
    },
  };
}

/** The current time as text, formatted at most once per millisecond. */
function createIsoTime(): () => string {
  let last = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== last) {
      last = now;
      text = new Date(now).toISOString();
    }
    return text;
  };
}

interface Description {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: Description;
}

function describe(error: unknown, depth = 0): Description {
  if (!(error instanceof Error)) return { name: 'unknown', message: typeof error };
  const code = (error as { code?: unknown }).code;
  return {
    name: error instanceof GatewayError ? error.errorName : error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(error.cause === undefined || depth > 3 ? {} : { cause: describe(error.cause, depth + 1) }),
  };
}
