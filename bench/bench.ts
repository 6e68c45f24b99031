import type { Protocol } from './prepared-responses.ts';
import type { Target, TargetName, Upstream } from './targets.ts';

/** What a run was asked for. */
export interface Settings {
  readonly rounds: number;
  readonly targets: readonly TargetName[];
  readonly protocol: Protocol;
  /** Streams per second for the delays; null: half of the last target's capacity on its core. */
  readonly rate: number | null;
  readonly progress: (text: string) => void;
}

/** What every row measures with. */
export interface Bench {
  readonly settings: Settings;
  readonly upstream: Upstream;
  /** Running and warmed up. */
  readonly targets: readonly Target[];
}
