import { setTimeout as wait } from 'node:timers/promises';

/** A proxy in front of gateways, as a program of its own. */
export interface Front {
  readonly url: string;
  readonly port: number;
  /** Its error log so far; empty when all is well. */
  errors(): string;
  /** Whether the gateway of this number gets requests, as far as the proxy says such things. */
  sendsTo(index: number): boolean;
  close(): Promise<void>;
}

export interface FrontOptions {
  /** Its working directory, which the caller removes. */
  readonly folder: string;
  /** Where gateways listen, on 127.0.0.1. */
  readonly ports: readonly number[];
  /** More lines of its server, in its own language. */
  readonly directives?: string;
  /** Listens with TLS as well, with one file that has certificate and key. */
  readonly tls?: { readonly port: number; readonly file: string };
}

/** The front, once a gateway answers through it. */
export async function answering<T extends Front>(front: T): Promise<T> {
  for (let round = 0; round < 100; round += 1) {
    const isUp = await fetch(`${front.url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return front;
    await wait(50);
  }
  await front.close();
  throw new Error(`the proxy in front did not start: ${front.errors()}`);
}
