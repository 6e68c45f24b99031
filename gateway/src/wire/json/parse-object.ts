import { isUtf8 } from 'node:buffer';
import { GatewayError } from '#errors/index.ts';
import { type Budget, openBudget } from './budget.ts';
import { type JsonScan, scanJson, type WatchedObject } from './scan.ts';

export interface ParsedObject {
  readonly scan: JsonScan;
  readonly value: Readonly<Record<string, unknown>>;
  /** What is left of the request's budget. */
  readonly budget: Budget;
}

/** Limits the memory of parsed bodies. */
export interface ParseRoom {
  /**
   * Called after a body was scanned and before it is parsed.
   * @throws GatewayError if there is no memory for the parsed form.
   */
  takeParsed(body: Uint8Array, members: number, values: number): void;
}

/**
 * Scans and parses a request body once.
 * @throws GatewayError `invalid_body` unless it is a UTF-8 JSON object (RFC 8259 section 8.1: no byte order mark),
 * `too_complex` if it is nested too deeply or has too many values, `duplicate_key`, and the errors of `room`.
 */
export function parseObject(body: Buffer, watch: WatchedObject, room?: ParseRoom): ParsedObject {
  if (!isUtf8(body)) throw new GatewayError('invalid_body');
  const budget = openBudget(body.length);
  const scan = scanJson(body, watch, budget);
  room?.takeParsed(body, scan.memberCount, scan.valueCount);
  try {
    return { scan, value: JSON.parse(body.toString('utf8')) as Record<string, unknown>, budget };
  } catch (cause) {
    throw new GatewayError('invalid_body', { cause });
  }
}
