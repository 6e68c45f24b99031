import type { Transferable } from 'node:worker_threads';

/** Messages between a pool and its threads. Bytes are transferred, not copied: `transfer` lists them. */
export type ToThread =
  | { readonly kind: 'task'; readonly task: unknown }
  | { readonly kind: 'reply'; readonly reply: unknown };

export type FromThread =
  | { readonly kind: 'ready' }
  /** Asks the main thread for something that only it has; the job waits for the reply. */
  | { readonly kind: 'question'; readonly question: unknown }
  | { readonly kind: 'done'; readonly result: unknown };

/** A message and the memory transferred with it. */
export interface Handed<Message> {
  readonly message: Message;
  readonly transfer: readonly Transferable[];
}
