/** The tasks of `tasks.worker.ts`. */
export type TestTask =
  | { readonly do: 'say'; readonly text: string }
  | { readonly do: 'measure'; readonly bytes: Uint8Array }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'ask'; readonly question: string }
  | { readonly do: 'spin' | 'hoard' | 'die' };
