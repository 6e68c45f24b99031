import type { WorkerReply, Ask, Question } from './messages.ts';

/** Pending questions on one channel. */
export interface Questions {
  /** The reply; null if none came in time or the other side has ended. */
  ask(question: Question): Promise<unknown>;
  answered(answer: WorkerReply): void;
  /** The other side has ended. */
  end(): void;
}

const patienceMs = 5_000;

/** @param send sends to the other side, whose reply goes to `answered` */
export function createQuestions(send: (ask: Ask) => void): Questions {
  const open = new Map<number, (value: unknown) => void>();
  let lastId = 0;
  let hasEnded = false;

  const resolve = (id: number, value: unknown): void => {
    open.get(id)?.(value);
    open.delete(id);
  };

  return {
    ask(question) {
      if (hasEnded) return Promise.resolve(null);
      lastId += 1;
      const id = lastId;
      return new Promise((settle) => {
        const timer = setTimeout(() => resolve(id, null), patienceMs);
        open.set(id, (value) => {
          clearTimeout(timer);
          settle(value);
        });
        send({ kind: 'ask', id, question });
      });
    },
    answered: ({ id, value }) => resolve(id, value),
    end() {
      hasEnded = true;
      for (const id of open.keys()) resolve(id, null);
    },
  };
}
