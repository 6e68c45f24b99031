import { hash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import type { FormPart } from '../http/form.ts';
import { parseJson } from '../json.ts';
import type { Delivery } from './delivery.ts';

/** One request as received, and the outcome of its response. */
export interface ReceivedRequest {
  /** 1 for the first request after start; never reused. */
  readonly sequence: number;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly method: string;
  /** Path with query, as received. */
  readonly path: string;
  /** In the order received, names lower-cased, duplicates kept. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The body as text; '' if it is not UTF-8. */
  readonly body: string;
  /** Only if the body is not UTF-8. */
  readonly bodyBase64: string | null;
  /** The true size, even if the logged body was cut. */
  readonly bodyBytes: number;
  readonly bodyTruncated: boolean;
  /** Of the whole body; only if the logged body was cut. */
  readonly bodySha256: string | null;
  /** The body, decoded and parsed; null if it is not JSON or was cut. */
  readonly json: unknown;
  /** The parts of a multipart body in their order, whole even if the logged body was cut; else null. */
  readonly form: readonly ReceivedPart[] | null;
  /** The fault that applied, '' for none. */
  readonly fault: string;
  readonly status: number | null;
  readonly eventsSent: number;
  readonly finished: boolean;
  readonly clientLeft: boolean;
}

export interface ReceivedPart {
  readonly name: string;
  /** Null for a field, whose `text` is its value. */
  readonly filename: string | null;
  readonly contentType: string;
  readonly text: string | null;
  readonly bytes: number;
  readonly sha256: string;
}

/** What is known once a request has arrived completely. */
export interface Arrival {
  readonly method: string;
  readonly path: string;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The decoded body. */
  readonly decoded: Buffer;
  readonly form: readonly FormPart[] | null;
  readonly fault: string;
}

interface Entry {
  readonly sequence: number;
  readonly receivedAt: number;
  readonly arrival: Omit<Arrival, 'form'>;
  readonly form: readonly ReceivedPart[] | null;
  readonly sha256: string | null;
  readonly bodyBytes: number;
  readonly delivery: Delivery;
}

export interface RequestLog {
  add(arrival: Arrival, delivery: Delivery): void;
  list(): ReceivedRequest[];
  clear(): void;
}

const usualLimit = 10_000;
const bodyLimit = 2 ** 20;
/** Bounds the whole log: ten thousand bodies of a megabyte would not fit into memory. */
const totalLimit = 256 * 2 ** 20;

export function createRequestLog(now: () => number, entryLimit = usualLimit): RequestLog {
  const entries: Entry[] = [];
  let sequence = 0;
  let bytesKept = 0;
  return {
    add({ form, ...arrival }, delivery) {
      // Digests of large bodies take time.
      if (entryLimit === 0) return;
      sequence += 1;
      const cut = arrival.body.length > bodyLimit;
      // Copied, because a slice would keep the whole body in memory.
      const body = cut ? Buffer.from(arrival.body.subarray(0, bodyLimit)) : arrival.body;
      entries.push({
        sequence,
        receivedAt: now(),
        arrival: { ...arrival, body, decoded: cut ? Buffer.alloc(0) : arrival.decoded },
        form: form?.map(summarize) ?? null,
        sha256: cut ? hash('sha256', arrival.body, 'hex') : null,
        bodyBytes: arrival.body.length,
        delivery,
      });
      bytesKept += body.length;
      while (entries.length > entryLimit || bytesKept > totalLimit) {
        bytesKept -= entries.shift()?.arrival.body.length ?? 0;
      }
    },
    list: () => entries.map(describe),
    clear() {
      entries.length = 0;
      bytesKept = 0;
    },
  };
}

/** Files are kept as digests: the parts of a large form would hold its whole body in memory. */
function summarize({ name, filename, contentType, bytes }: FormPart): ReceivedPart {
  return {
    name,
    filename,
    contentType,
    text: filename === null ? bytes.toString('utf8') : null,
    bytes: bytes.length,
    sha256: hash('sha256', bytes, 'hex'),
  };
}

function describe(entry: Entry): ReceivedRequest {
  const { arrival, delivery } = entry;
  const isText = entry.sha256 !== null || isUtf8(arrival.body);
  return {
    sequence: entry.sequence,
    receivedAt: entry.receivedAt,
    method: arrival.method,
    path: arrival.path,
    headers: pairHeaders(arrival.rawHeaders),
    body: isText ? arrival.body.toString('utf8') : '',
    bodyBase64: isText ? null : arrival.body.toString('base64'),
    bodyBytes: entry.bodyBytes,
    bodyTruncated: entry.sha256 !== null,
    bodySha256: entry.sha256,
    json: parseJson(arrival.decoded.toString('utf8')) ?? null,
    form: entry.form,
    fault: arrival.fault,
    status: delivery.status,
    eventsSent: delivery.eventsSent,
    finished: delivery.finished,
    clientLeft: delivery.clientLeft,
  };
}

function pairHeaders(raw: readonly string[]): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    pairs.push([(raw[index] ?? '').toLowerCase(), raw[index + 1] ?? '']);
  }
  return pairs;
}
