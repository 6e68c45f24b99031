import type { Command, Reply } from './command.ts';

/** Who sets money aside: the database, or whatever takes its place. */
export interface Authority {
  /** Records a life with nothing leased. Returns the generation it begins in. */
  begin(life: string): Promise<number>;
  /** Carries out a command. Rejects if its outcome is unknown: it may still be carried out. */
  run(command: Command): Promise<Reply>;
  /** Records a sign of life. @param holds by meter: what requests under way hold */
  look(life: string, holds: ReadonlyMap<string, bigint>): Promise<Signs>;
  /** Notifications can be lost. */
  listen(news: News): { close(): void };
  /** Which of these exchanges the database has: as usage rows, or as tasks that have not ended. */
  recorded(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** What is known of a meter, and what the rows of this life have settled of its lease. Null: no life of this process. */
  read(meter: string, life: string | null): Promise<MeterSums>;
}

export interface News {
  /** Idle money is wanted on the meter, or has come back. */
  onRecall(meter: string, recall: number): void;
  /** Limits may have changed, or notifications may have been lost: a look is due. */
  onChange(): void;
}

export interface MeterSums {
  readonly spent: bigint;
  /** By tasks, and by requests of other lives at the last look of each. */
  readonly held: bigint;
  readonly settled: bigint;
}

export interface Signs {
  /** `unknown`: the database does not know the life, or not its generation. */
  readonly state: 'open' | 'closed' | 'unknown';
  /** Of the last command. */
  readonly number: number;
  /** By meter: the recalls that the leases of the life have not answered. */
  readonly recalls: ReadonlyMap<string, number>;
  /** Meters of its leases on which more is spent, leased and held than the limit. */
  readonly beyond: ReadonlySet<string>;
}
