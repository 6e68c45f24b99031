import { parentPort } from 'node:worker_threads';
import { countTexts } from './count-text.ts';
import type { CountReply, CountRequest } from './tokenizer-thread.ts';

parentPort?.on('message', ({ id, said, defined }: CountRequest) => {
  const reply: CountReply = { id, said: countTexts(said), defined: countTexts(defined) };
  parentPort?.postMessage(reply);
});
