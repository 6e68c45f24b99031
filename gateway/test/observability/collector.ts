import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** What a collector got in one call. */
export interface Export {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Collector {
  readonly url: string;
  /** Calls that have arrived whole, answered or not. */
  readonly exports: readonly Export[];
}

/** A receiver of OTLP over HTTP. @param status of every answer; null: it never answers */
export async function startCollector(status: number | null = 200): Promise<Collector> {
  const exports: Export[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url = '', headers } = request;
      exports.push({ path: url, headers, body: Buffer.concat(chunks) });
      if (status === null) return;
      response.writeHead(status, { 'content-type': headers['content-type'] ?? '' });
      response.end(headers['content-type'] === 'application/json' ? '{}' : '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, exports };
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface JsonExport {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly JsonSpan[] }[];
  }[];
}

interface JsonSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly Attribute[];
}

export interface ReceivedSpan extends Omit<JsonSpan, 'attributes'> {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
}

const plain = (attributes: readonly Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/** The spans of a collector that gets JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). */
export function spansOf({ exports }: Collector): ReceivedSpan[] {
  return exports.flatMap(({ body }) =>
    (JSON.parse(body.toString()) as JsonExport).resourceSpans.flatMap(({ resource, scopeSpans }) =>
      scopeSpans
        .flatMap(({ spans }) => spans)
        .map((span) => ({
          ...span,
          attributes: plain(span.attributes),
          resource: plain(resource.attributes),
        })),
    ),
  );
}
