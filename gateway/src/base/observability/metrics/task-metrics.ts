import { Counter, Gauge, type Registry } from 'prom-client';
import { registerTally } from './tally.ts';

/** What is known of video tasks. Counts are those of this process since its start. */
export interface TaskReadings {
  /** Tasks of all processes that have not ended, at the last count. */
  readonly open: readonly OpenTasks[];
  /** Calls to upstreams by result. */
  readonly looks: Readonly<Record<string, number>>;
  /** Milliseconds by which the look that waits longest is late, over all processes. */
  readonly lag: number;
  /** Tasks that had no end in time. */
  readonly expired: number;
  /** Videos that came after their tasks had expired: the operator pays for them. */
  readonly lost: number;
  /** Submits whose responses were lost: the upstream may make their videos. */
  readonly uncertain: number;
  /** Finished tasks whose files were copied, or not in time. */
  readonly results: Readonly<Record<'copied' | 'failed', number>>;
}

export interface OpenTasks {
  readonly state: string;
  /** Empty: no upstream has accepted them yet. */
  readonly channel: string;
  readonly count: number;
}

/** The members of the usage row of a task that are counted. */
export interface EndedTask {
  readonly protocol: string;
  readonly outcome: string;
  readonly error: string | null;
  readonly usageSource: string;
}

export interface TaskMetrics {
  ended(task: EndedTask): void;
}

/** Far more than there are protocols, outcomes and errors. */
const maxCombinations = 1_000;

/** @param readings called at every scrape */
export function registerTaskMetrics(registry: Registry, readings: () => TaskReadings): TaskMetrics {
  const registers = [registry];
  new Gauge({
    name: 'sluice_video_tasks_open',
    help: 'Video tasks that have not ended, by state and channel.',
    labelNames: ['state', 'channel'],
    registers,
    // Every process counts those of all.
    aggregator: 'max',
    collect() {
      this.reset();
      for (const { state, channel, count } of readings().open) {
        this.set({ state, channel }, count);
      }
    },
  });
  new Counter({
    name: 'sluice_video_looks_total',
    help: 'Looks of this process at the upstreams of video tasks, by result.',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      for (const [result, count] of Object.entries(readings().looks)) this.inc({ result }, count);
    },
  });
  new Counter({
    name: 'sluice_video_results_total',
    help: 'Finished video tasks whose files this process copied, or gave up, by result.',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      for (const [result, count] of Object.entries(readings().results)) this.inc({ result }, count);
    },
  });
  new Gauge({
    name: 'sluice_video_look_lag_seconds',
    help: 'How late the most overdue look at a video task is.',
    registers,
    aggregator: 'max',
    collect() {
      this.set(readings().lag / 1000);
    },
  });
  for (const [name, help, read] of counters) {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read(readings()));
      },
    });
  }
  const ends = registerTally(registry, {
    name: 'sluice_video_tasks_ended_total',
    help: 'Video tasks by how they ended, and by the source of what was charged for.',
    labelNames: ['protocol', 'outcome', 'error', 'source'],
    limit: maxCombinations,
  });
  return {
    ended({ protocol, outcome, error, usageSource }) {
      ends.add(`${protocol} ${outcome} ${error} ${usageSource}`, () => ({
        protocol,
        outcome,
        error: error ?? '',
        source: usageSource,
      }));
    },
  };
}

const counters: readonly (readonly [
  name: string,
  help: string,
  read: (readings: TaskReadings) => number,
])[] = [
  [
    'sluice_video_tasks_expired_total',
    'Video tasks that had no end in time and were refunded.',
    ({ expired }) => expired,
  ],
  [
    'sluice_video_tasks_lost_total',
    'Videos that came after their tasks had expired; nobody is charged for them.',
    ({ lost }) => lost,
  ],
  [
    'sluice_video_submits_uncertain_total',
    'Submits whose responses were lost; their upstreams may make the videos.',
    ({ uncertain }) => uncertain,
  ],
];
