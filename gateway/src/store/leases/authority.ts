import type { Command, Reply } from './command.ts';

/** Who sets money aside: the database, or whatever takes its place. */
export interface Authority {
  /** Records a life with nothing leased. Returns the generation it begins in. */
  begin(life: string): Promise<number>;
  /** Carries out a command. Rejects if its outcome is unknown: it may still be carried out. */
  run(command: Command): Promise<Reply>;
  /** Records a sign of life. */
  look(life: string): Promise<Signs>;
  /** Calls back for each meter on which idle money is wanted, or has come back. Notifications can be lost. */
  listen(onNews: (meter: string, recall: number) => void): { close(): void };
  /** What is known of a meter, and what the rows of this life have settled of its lease. */
  read(meter: string, life: string): Promise<MeterSums>;
}

export interface MeterSums {
  readonly spent: bigint;
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
}
