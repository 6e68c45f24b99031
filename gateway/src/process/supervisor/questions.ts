import type { Answer, Ask, Question } from './messages.ts';

/** Questions under way on one channel. */
export interface Questions {
  /** The answer, or null when none came in time or the other side is gone. */
  ask(question: Question): Promise<unknown>;
  answered(answer: Answer): void;
  /** The other side is gone. */
  end(): void;
}

const patienceMs = 5_000;

/** @param send to the other side, which gives its answer to `answered` */
export function createQuestions(send: (ask: Ask) => void): Questions {
  const open = new Map<number, (value: unknown) => void>();
  let lastId = 0;
  let ended = false;

  const resolve = (id: number, value: unknown): void => {
    open.get(id)?.(value);
    open.delete(id);
  };

  return {
    ask(question) {
      if (ended) return Promise.resolve(null);
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
      ended = true;
      for (const id of open.keys()) resolve(id, null);
    },
  };
}
