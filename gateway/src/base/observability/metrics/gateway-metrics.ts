import { Counter, Gauge, type Registry } from 'prom-client';
import type { UncaughtErrors } from '../uncaught-errors.ts';

/** Asked at every scrape; each must answer at once and without waiting for anything but the kernel. */
export interface GatewayReadings {
  readonly journal: { readonly depth: number; readonly usable: boolean; readonly lost: number };
  /** Bytes for bodies of requests under way, and requests refused for want of them. */
  readonly bodyMemory: { readonly used: number; readonly limit: number; readonly refused: number };
  openConnections(): Promise<number>;
  /** Requests refused since the start because there was too much to do, by cause. */
  overloadRefusals(): Readonly<Record<string, number>>;
  channelStates(): readonly ChannelState[];
  droppedLogLines(): number;
  /** Nodes that serve, this one included. */
  liveNodes(): number;
  uncaughtErrors(): UncaughtErrors;
  /** What works with less than usual, in words. */
  degraded(): readonly string[];
}

/** How one channel is, as this node sees it. */
export interface ChannelState {
  readonly channel: string;
  /** `closed`: used as usual. `open`: left out. `half-open`: one request at a time finds out. */
  readonly breaker: 'closed' | 'open' | 'half-open';
  /** How many credentials may be used, wait for their cool-down to pass, or are refused by the upstream. */
  readonly credentials: Readonly<Record<'ready' | 'cooling' | 'disabled', number>>;
}

const breakerStates = ['closed', 'open', 'half-open'] as const;
const credentialStates = ['ready', 'cooling', 'disabled'] as const;

/** What is read rather than counted: the journal, the server's connections, the channels, the log. */
export function registerGatewayMetrics(registry: Registry, readings: GatewayReadings): void {
  const registers = [registry];
  new Gauge({
    name: 'sluice_journal_depth',
    help: 'Usage records on disk that are not in the database yet.',
    registers,
    collect() {
      this.set(readings.journal.depth);
    },
  });
  new Gauge({
    name: 'sluice_journal_usable',
    help: '1 when usage records can be made durable; 0 refuses every new request that costs something.',
    registers,
    // Of several processes the worst off.
    aggregator: 'min',
    collect() {
      this.set(readings.journal.usable ? 1 : 0);
    },
  });
  new Counter({
    name: 'sluice_usage_records_lost_total',
    help: 'Usage records that could not be made durable: of requests that cost nothing, or were refused for it.',
    registers,
    collect() {
      this.reset();
      this.inc(readings.journal.lost);
    },
  });
  new Gauge({
    name: 'sluice_open_connections',
    help: 'Connections of clients, idle ones included.',
    registers,
    async collect() {
      this.set(await readings.openConnections());
    },
  });
  new Gauge({
    name: 'sluice_body_memory_bytes',
    help: 'Memory held for bodies of requests under way.',
    registers,
    collect() {
      this.set(readings.bodyMemory.used);
    },
  });
  new Gauge({
    name: 'sluice_body_memory_limit_bytes',
    help: 'Memory that bodies of requests under way may hold: limits.body_memory of every process.',
    registers,
    collect() {
      this.set(readings.bodyMemory.limit);
    },
  });
  new Counter({
    name: 'sluice_body_memory_refusals_total',
    help: 'Requests refused because there was no memory for their bodies.',
    registers,
    collect() {
      this.reset();
      this.inc(readings.bodyMemory.refused);
    },
  });
  new Counter({
    name: 'sluice_overload_refusals_total',
    help: 'Requests refused before their bodies were read: no place came free, the event loop lagged, memory was short.',
    labelNames: ['cause'],
    registers,
    collect() {
      this.reset();
      for (const [cause, count] of Object.entries(readings.overloadRefusals())) {
        this.inc({ cause }, count);
      }
    },
  });
  new Gauge({
    name: 'sluice_channel_breaker',
    help: 'The state of each channel: 1 for the one it is in, or how many processes see it so.',
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
    help: 'Nodes that serve, as this one knows: among them limits are divided while Redis is lost.',
    registers,
    aggregator: 'max',
    collect() {
      this.set(readings.liveNodes());
    },
  });
  new Gauge({
    name: 'sluice_degraded',
    help: 'How much works with less than usual: what /ready names in degraded.',
    registers,
    aggregator: 'max',
    collect() {
      this.set(readings.degraded().length);
    },
  });
  new Counter({
    name: 'sluice_log_lines_dropped_total',
    help: 'Log lines that were not written because nobody read them fast enough.',
    registers,
    collect() {
      this.reset();
      this.inc(readings.droppedLogLines());
    },
  });
  new Counter({
    name: 'sluice_uncaught_errors_total',
    help: 'Errors that nobody caught: exceptions end this process in order, rejections are only told.',
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
