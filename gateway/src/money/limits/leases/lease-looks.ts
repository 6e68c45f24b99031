import type { Authority } from '#leases/index.ts';
import { createRepeatedWork, type RepeatedWork } from '#observability/index.ts';
import { freeOf, hear, hearBeyond, heldIn } from './book.ts';
import { leaseRules } from './lease-rules.ts';
import type { LeaseWork } from './lease-work.ts';
import type { LifeOptions } from './lease-life.ts';
import type { Pace } from './pace.ts';
import type { Refusals } from './refusals.ts';
import type { WaitingRequests } from './waiting.ts';

export interface LeaseLooksParts {
  readonly work: LeaseWork;
  readonly pace: Pace;
  readonly refusals: Refusals;
  readonly waiting: WaitingRequests;
  /** What is due before each look. Rejects if the database is unreachable. */
  readonly settle: () => Promise<void>;
}

/** What others do to the leases of this node: it hears of it, and looks for it from time to time. */
export class LeaseLooks {
  readonly #authority: Authority;
  readonly #parts: LeaseLooksParts;
  readonly #looks: RepeatedWork;
  readonly #looking: NodeJS.Timeout;
  /** Many changes in a row are one look. */
  #soon: NodeJS.Timeout | null = null;
  readonly #listening: ReturnType<Authority['listen']>;

  constructor({ authority, log }: Pick<LifeOptions, 'authority' | 'log'>, parts: LeaseLooksParts) {
    this.#authority = authority;
    this.#parts = parts;
    this.#looks = createRepeatedWork((detail) =>
      log.warn('cannot receive lease notifications', { component: 'money', detail }),
    );
    this.#looking = setInterval(() => this.#lookNow(), leaseRules.lookEveryMs).unref();
    this.#listening = authority.listen({
      onRecall: (meter, recall) => this.#hearRecall(meter, recall),
      onChange: () => this.#limitsChanged(),
    });
  }

  close(): void {
    clearInterval(this.#looking);
    if (this.#soon !== null) clearTimeout(this.#soon);
    this.#listening.close();
  }

  #lookNow(): void {
    this.#soon = null;
    this.#look().then(this.#looks.reportSuccess, this.#looks.reportFailure);
  }

  async #look(): Promise<void> {
    const { work, pace, settle } = this.#parts;
    const { life } = work;
    if (life.book === null || work.isClosed) return;
    await settle();
    const own = life.book;
    if (own === null) return;
    const sentAt = life.moment();
    // A command may be done before the reply is read, which then knows less than this life.
    const { doneNumber, generation } = own;
    const recalls = new Map(Array.from(own.leases, ([meter, { recall }]) => [meter, recall]));
    const reply = await this.#authority.look(own.life, heldIn(own));
    if (life.book !== own || own.generation !== generation) return;
    if (reply.state === 'closed') life.beginAgain();
    else if (reply.state === 'unknown' || reply.number < doneNumber) life.noteLoss(own);
    else {
      life.noteSign(sentAt);
      for (const [meter, recall] of reply.recalls) {
        if (recall < (recalls.get(meter) ?? 0)) life.noteLoss(own);
        hear(own, meter, recall);
      }
      hearBeyond(own, reply.beyond);
      for (const [meter, lease] of own.leases) {
        if (pace.isIdle(meter) && (lease.isOver || freeOf(lease) > 0n)) work.noteIdle(meter);
      }
    }
    work.beginIfAny();
  }

  #hearRecall(meter: string, recall: number): void {
    const { work, refusals, waiting } = this.#parts;
    const { book } = work.life;
    if (book !== null) hear(book, meter, recall);
    refusals.forget(meter);
    waiting.hurry(meter);
    work.beginIfAny();
  }

  #limitsChanged(): void {
    this.#parts.refusals.clear();
    this.#soon ??= setTimeout(() => this.#lookNow(), leaseRules.gatherChangesMs).unref();
  }
}
