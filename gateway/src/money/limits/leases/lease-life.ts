import { setTimeout as wait } from 'node:timers/promises';
import type { Authority } from '#leases/index.ts';
import type { Logger } from '#observability/index.ts';
import { createBook, endReplay, wentBack, type Book } from './book.ts';
import { leaseRules } from './lease-rules.ts';

export interface LifeOptions {
  readonly authority: Authority;
  /** Names a new life of this node, and remembers the name. */
  readonly newLife: () => string;
  /** Writes records to the database again that it has lost. Never rejects. */
  readonly replay: () => Promise<void>;
  /** Called when the last request of a life has ended that was closed before. */
  readonly onEnded: (life: string) => void;
  /** After this time without a sign of life, the leases are freed. Milliseconds. */
  readonly ageMs: number;
  /** For how long the leases should suffice if the database is unreachable. Milliseconds. */
  readonly reserveMs: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** When something was sent, by both clocks: one stands still while the machine sleeps, the other may be set back. */
export interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

/** The present life of this node: its leases, and whether they are still its own. */
export class LeaseLife {
  readonly #options: LifeOptions;
  readonly #stopMs: number;
  /** Called once the database has its records again, or they are no longer waited for. */
  readonly #onReplayed: () => void;
  #book: Book | null = null;
  #lastSign: Moment = { monotonic: -Infinity, wall: -Infinity };

  constructor(options: LifeOptions, onReplayed: () => void) {
    this.#options = options;
    this.#stopMs = options.ageMs * 0.9;
    this.#onReplayed = onReplayed;
  }

  /** The leases of the present life; null: no life has begun. */
  get book(): Book | null {
    return this.#book;
  }

  /** Whether no sign of the authority has come for so long that it may have freed the leases. */
  get isSilent(): boolean {
    return this.isTooOld(this.#lastSign);
  }

  moment(): Moment {
    return { monotonic: this.#options.monotonic(), wall: this.#options.now() };
  }

  isTooOld(sentAt: Moment): boolean {
    const { monotonic, now } = this.#options;
    return monotonic() - sentAt.monotonic >= this.#stopMs || now() - sentAt.wall >= this.#stopMs;
  }

  /** The authority has replied to what was sent then. */
  noteSign(sentAt: Moment): void {
    this.#lastSign = sentAt;
  }

  /** Rejects if the database is unreachable. */
  async begin(): Promise<Book> {
    const life = this.#options.newLife();
    const sentAt = this.moment();
    const generation = await this.#options.authority.begin(life);
    this.#lastSign = sentAt;
    this.#book = createBook(life, generation);
    return this.#book;
  }

  /** The present life was closed: what its requests cost is late, and nothing of its leases is left. */
  beginAgain(): void {
    this.#options.log.warn(
      'the leases of this process were freed while it could not reach the database',
      { component: 'money' },
    );
    this.endIfDone(this.#book!);
    this.#book = null;
  }

  /** Reports the end of a closed life unless requests of it are still under way. */
  endIfDone({ life, holds }: Book): void {
    if (holds.size === 0) this.#options.onEnded(life);
  }

  /** The database went back in time: nothing is drawn until it has its records again, or for some seconds. */
  noteLoss(own: Book): void {
    if (own.restates === 'all') return;
    this.#options.log.error(
      'the database went back in time; writing the leases of this process again',
      null,
      { component: 'money' },
    );
    wentBack(own);
    const timeout = wait(leaseRules.restateMs, undefined, { ref: false });
    void Promise.race([this.#options.replay(), timeout]).then(() => {
      endReplay(own);
      this.#onReplayed();
    });
  }
}
