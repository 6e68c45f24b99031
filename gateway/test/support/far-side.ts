import { Worker } from 'node:worker_threads';
import type { TestGateway } from './gateway.ts';
import { testKey } from './gateway.ts';

export interface FarMessage {
  /** What the upstream answers to everything from here on; null: what it has answered before. */
  readonly upstream: UpstreamAnswer | null;
  /** The body of the next requests that have none of their own; absent: as before. */
  readonly body?: Uint8Array;
  readonly request: (RequestInit & { readonly url: string }) | null;
}

interface UpstreamAnswer {
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

export interface FarResponse {
  /** 0: there was no response. */
  readonly status: number;
  readonly id: string;
  readonly bytes: number;
  /** Its first thousand bytes. */
  readonly head: string;
}

/** An upstream and a client in a thread of their own: what large responses cost them is not the gateway's. */
export interface FarSide {
  readonly url: string;
  ask(
    gateway: Pick<TestGateway, 'url'>,
    path: string,
    body: unknown,
    upstream: FarMessage['upstream'],
  ): Promise<FarResponse>;
  /** Has the client send this where `ask` is given no body. The hand-over takes time, too. */
  send(body: Uint8Array): void;
  /** Has the upstream answer this. The hand-over of megabytes takes this thread tens of milliseconds. */
  answer(upstream: UpstreamAnswer): void;
  close(): Promise<void>;
}

export async function startFarSide(): Promise<FarSide> {
  const worker = new Worker(new URL('./far-side.worker.ts', import.meta.url));
  const next = <Message>(): Promise<Message> =>
    new Promise((resolve) => void worker.once('message', resolve));
  const { port } = await next<{ port: number }>();
  return {
    url: `http://127.0.0.1:${port}`,
    async ask(gateway, path, body, upstream) {
      const request = {
        url: gateway.url + path,
        method: 'POST',
        headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
        ...(body !== null && { body: JSON.stringify(body) }),
      };
      worker.postMessage({ upstream, request } satisfies FarMessage);
      return next<FarResponse>();
    },
    send(body) {
      worker.postMessage({ upstream: null, body, request: null } satisfies FarMessage);
    },
    answer(upstream) {
      worker.postMessage({ upstream, request: null } satisfies FarMessage);
    },
    async close() {
      await worker.terminate();
    },
  };
}
