import { Counter, Gauge, type Registry } from 'prom-client';
import type { UncaughtErrors } from '../uncaught-errors.ts';
import type { TaskReadings } from './task-metrics.ts';

/** Read at every scrape. Each member responds at once and waits for nothing but the kernel. */
export interface GatewayReadings {
  readonly journal: {
    readonly depth: number;
    readonly usable: boolean;
    readonly lost: number;
    readonly unfinished: number;
  };
  /** Bytes for bodies of requests in flight, and the number of requests refused for lack of them. */
  readonly bodyMemory: {
    readonly usedBytes: number;
    readonly limit: number;
    readonly refused: number;
  };
  /** Bytes for large bodies, and the number of bodies for which there was no room. */
  readonly spool: { readonly usedBytes: number; readonly limit: number; readonly refused: number };
  server(): ServerReadings;
  tasks(): TaskReadings;
  channelStates(): readonly ChannelState[];
  droppedLogLines(): number;
  /** Live nodes, including this one. */
  liveNodes(): number;
  /** What silent processes may have charged without a record, in USD. */
  freedLeases(): number;
  /** In USD. */
  unleased(): number;
  uncaughtErrors(): UncaughtErrors;
  /** Degraded components, in words. */
  degraded(): readonly string[];
}

/** What the server of this process knows of its clients. */
export interface ServerReadings {
  openConnections(): Promise<number>;
  /** Requests that wait for a free slot. */
  readonly waiting: number;
  /** Requests refused because of overload since the start, by cause. */
  readonly overloadRefusals: Readonly<Record<string, number>>;
}

/** The state of one channel as this node sees it. */
export interface ChannelState {
  readonly channel: string;
  /** `closed`: used as usual. `open`: left out. `half-open`: one request at a time probes it. */
  readonly breaker: 'closed' | 'open' | 'half-open';
  /** How many credentials are usable, are cooling down, or were refused by the upstream. */
  readonly credentials: Readonly<Record<'ready' | 'cooling' | 'disabled', number>>;
}

const breakerStates = ['closed', 'open', 'half-open'] as const;
const credentialStates = ['ready', 'cooling', 'disabled'] as const;

/** What `/ready` names by one word. Whole sentences, such as those about other nodes, are `other`. */
const degradedComponents = [
  'journal',
  'database',
  'database-writes',
  'version',
  'spool',
  'redis',
  'video-looks',
  'lag',
  'memory',
  'other',
] as const;

/** Metrics that are read at scrape time: journal, connections, channels, log. */
export function registerGatewayMetrics(registry: Registry, readings: GatewayReadings): void {
  const registers = [registry];
  new Gauge({
    name: 'sluice_journal_depth',
    help: 'Usage records on disk that are not yet in the database.',
    registers,
    collect() {
      this.set(readings.journal.depth);
    },
  });
  new Gauge({
    name: 'sluice_journal_usable',
    help: '1 if usage records can be made durable; at 0 every new billable request is refused.',
    registers,
    // With several processes: the worst one.
    aggregator: 'min',
    collect() {
      this.set(readings.journal.usable ? 1 : 0);
    },
  });
  new Counter({
    name: 'sluice_usage_records_lost_total',
    help: 'Usage records that could not be made durable; their requests were free or were refused for it.',
    registers,
    collect() {
      this.reset();
      this.inc(readings.journal.lost);
    },
  });
  new Counter({
    name: 'sluice_unfinished_attempts_total',
    help: 'Attempts that were under way when an earlier process was killed; their upstreams may bill them.',
    registers,
    collect() {
      this.reset();
      this.inc(readings.journal.unfinished);
    },
  });
  new Gauge({
    name: 'sluice_open_connections',
    help: 'Open client connections, including idle ones.',
    registers,
    async collect() {
      this.set(await readings.server().openConnections());
    },
  });
  new Gauge({
    name: 'sluice_body_memory_bytes',
    help: 'Memory held for bodies of requests in flight.',
    registers,
    collect() {
      this.set(readings.bodyMemory.usedBytes);
    },
  });
  new Gauge({
    name: 'sluice_body_memory_limit_bytes',
    help: 'Memory limit for bodies of requests in flight: limits.body_memory of every process.',
    registers,
    collect() {
      this.set(readings.bodyMemory.limit);
    },
  });
  new Counter({
    name: 'sluice_body_memory_refusals_total',
    help: 'Requests refused because no memory was left for their bodies.',
    registers,
    collect() {
      this.reset();
      this.inc(readings.bodyMemory.refused);
    },
  });
  new Gauge({
    name: 'sluice_spool_bytes',
    help: 'Room taken by pictures and large requests in flight: reserved, or in files.',
    registers,
    collect() {
      this.set(readings.spool.usedBytes);
    },
  });
  new Gauge({
    name: 'sluice_spool_limit_bytes',
    help: 'Room for pictures and large requests in flight: limits.spool of every process.',
    registers,
    collect() {
      this.set(readings.spool.limit);
    },
  });
  new Counter({
    name: 'sluice_spool_refusals_total',
    help: 'Pictures and large requests for which there was no room, or no disk that could be written.',
    registers,
    collect() {
      this.reset();
      this.inc(readings.spool.refused);
    },
  });
  new Gauge({
    name: 'sluice_waiting_requests',
    help: 'Requests that wait for a free slot among those in flight.',
    registers,
    collect() {
      this.set(readings.server().waiting);
    },
  });
  new Counter({
    name: 'sluice_overload_refusals_total',
    help: 'Requests refused before their bodies were read, by cause: no free slot, event-loop lag, low memory.',
    labelNames: ['cause'],
    registers,
    collect() {
      this.reset();
      for (const [cause, count] of Object.entries(readings.server().overloadRefusals)) {
        this.inc({ cause }, count);
      }
    },
  });
  new Gauge({
    name: 'sluice_channel_breaker',
    help: 'State of each channel: 1 for its current state, or the number of processes that see it so.',
    labelNames: ['channel', 'state'],
    registers,
    collect() {
      this.reset();
      for (const { channel, breaker } of readings.channelStates()) {
        for (const state of breakerStates) this.set({ channel, state }, breaker === state ? 1 : 0);
      }
    },
  });
  new Gauge({
    name: 'sluice_channel_credentials',
    help: 'Credentials of each channel by state.',
    labelNames: ['channel', 'state'],
    registers,
    collect() {
      this.reset();
      for (const { channel, credentials } of readings.channelStates()) {
        for (const state of credentialStates) this.set({ channel, state }, credentials[state]);
      }
    },
  });
  new Gauge({
    name: 'sluice_live_nodes',
    help: 'Live nodes known to this one; rates are divided among them without Redis.',
    registers,
    aggregator: 'max',
    collect() {
      this.set(readings.liveNodes());
    },
  });
  new Gauge({
    name: 'sluice_unleased_usd',
    help: 'USD held and charged without a lease while the database was unreachable, until it has the charges.',
    registers,
    collect() {
      this.set(readings.unleased());
    },
  });
  new Gauge({
    name: 'sluice_freed_leases_usd',
    help: 'USD that silent processes had leased when their leases were freed; it may be spent twice.',
    registers,
    aggregator: 'max',
    collect() {
      this.set(readings.freedLeases());
    },
  });
  new Gauge({
    name: 'sluice_degraded',
    help: 'Number of degraded components, as listed in degraded by /ready, by their names there.',
    labelNames: ['component'],
    registers,
    aggregator: 'max',
    collect() {
      const counts = new Map<string, number>(degradedComponents.map((name) => [name, 0]));
      for (const words of readings.degraded()) {
        const component = counts.has(words) ? words : 'other';
        counts.set(component, counts.get(component)! + 1);
      }
      for (const [component, count] of counts) this.set({ component }, count);
    },
  });
  new Counter({
    name: 'sluice_log_lines_dropped_total',
    help: 'Log lines dropped because the reader was too slow.',
    registers,
    collect() {
      this.reset();
      this.inc(readings.droppedLogLines());
    },
  });
  new Counter({
    name: 'sluice_uncaught_errors_total',
    help: 'Uncaught errors: exceptions shut this process down, rejections are only logged.',
    labelNames: ['kind'],
    registers,
    collect() {
      const { exceptions, rejections } = readings.uncaughtErrors();
      this.reset();
      this.inc({ kind: 'exception' }, exceptions);
      this.inc({ kind: 'rejection' }, rejections);
    },
  });
}
