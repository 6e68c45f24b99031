/** A panel of `deploy/grafana/sluice.json`. */
export interface Panel {
  readonly title: string;
  readonly kind: 'stat' | 'timeseries';
  /** As Grafana names units. */
  readonly unit: string;
  readonly queries: readonly Query[];
  /** Draws the series on top of each other. Default: false. */
  readonly stacked?: boolean;
}

export interface Query {
  readonly expr: string;
  /** Labels stand in double braces. */
  readonly legend: string;
}

export interface Section {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const at = 'instance=~"$instance"';
const of = `${at},model=~"$model"`;
const every = '[$__rate_interval]';

const lines = (
  title: string,
  unit: string,
  queries: Readonly<Record<string, string>>,
  stacked = false,
): Panel => ({
  title,
  kind: 'timeseries',
  unit,
  queries: Object.entries(queries).map(([legend, expr]) => ({ legend, expr })),
  stacked,
});

const figure = (title: string, unit: string, expr: string): Panel => ({
  title,
  kind: 'stat',
  unit,
  queries: [{ expr, legend: title }],
});

const quantile = (share: number, name: string, by: string, labels = of): string =>
  `histogram_quantile(${share}, sum by (${by}) (rate(${name}_bucket{${labels}}${every})))`;

const firstToken = 'sluice_time_to_first_token_seconds';
const duration = 'sluice_request_duration_seconds';
const early = 'error=~"internal_error|overloaded|unavailable"';

export const sections: readonly Section[] = [
  {
    title: 'Overview',
    panels: [
      figure('Requests per second', 'reqps', `sum(rate(sluice_requests_total{${of}}${every}))`),
      figure(
        'Refused by the gateway (5xx)',
        'reqps',
        `sum(rate(sluice_requests_total{${of},outcome="refused",status_class="5xx"}${every}) or rate(sluice_refusals_total{${at},${early}}${every})) or vector(0)`,
      ),
      figure(
        'Failed',
        'percentunit',
        `(sum(rate(sluice_requests_total{${of},outcome="failed"}${every})) or vector(0)) / sum(rate(sluice_requests_total{${of},outcome!="refused"}${every}))`,
      ),
      figure('First token, p95', 's', quantile(0.95, firstToken, 'le')),
      figure(
        'Charged in this time',
        'currencyUSD',
        `sum(increase(sluice_charged_usd_total{${of}}[$__range]))`,
      ),
      figure('Nodes', 'none', `max(sluice_live_nodes{${at}})`),
      figure('Degraded', 'none', `sum(max by (component) (sluice_degraded{${at}}))`),
      figure('Journal usable', 'bool', `min(sluice_journal_usable{${at}})`),
    ],
  },
  {
    title: 'Traffic',
    panels: [
      lines(
        'Requests by outcome',
        'reqps',
        {
          '{{outcome}}': `sum by (outcome) (rate(sluice_requests_total{${of}}${every}))`,
        },
        true,
      ),
      lines(
        'Requests by model',
        'reqps',
        {
          '{{model}}': `sum by (model) (rate(sluice_requests_total{${of}}${every}))`,
        },
        true,
      ),
      lines(
        'Requests by protocol and operation',
        'reqps',
        {
          '{{protocol}} {{operation}}': `sum by (protocol, operation) (rate(sluice_requests_total{${of}}${every}))`,
        },
        true,
      ),
      lines('At an upstream now', 'none', {
        '{{kind}}': `sum by (kind) (sluice_open_exchanges{${at}})`,
        waiting: `sum(sluice_waiting_requests{${at}})`,
      }),
      lines('Client connections', 'none', { '{{instance}}': `sluice_open_connections{${at}}` }),
      lines('Pictures', 'none', {
        '{{model}} {{kind}}': `sum by (model, kind) (increase(sluice_images_total{${of}}[1h]))`,
      }),
    ],
  },
  {
    title: 'Refusals and errors',
    panels: [
      lines(
        'Refused, by status',
        'reqps',
        {
          '{{status_class}}': `sum by (status_class) (rate(sluice_requests_total{${of},outcome="refused"}${every}))`,
        },
        true,
      ),
      lines(
        'Refused before the model was looked at',
        'reqps',
        {
          '{{error}}': `sum by (error) (rate(sluice_refusals_total{${at}}${every}))`,
        },
        true,
      ),
      lines('Failed, by model and status', 'reqps', {
        '{{model}} {{status_class}}': `sum by (model, status_class) (rate(sluice_requests_total{${of},outcome="failed"}${every}))`,
      }),
      lines('Attempts that failed, by channel', 'reqps', {
        '{{channel}} {{result}}': `sum by (channel, result) (rate(sluice_attempts_total{${at},result!="completed"}${every}))`,
      }),
      lines('Failovers, by the channel that failed', 'reqps', {
        '{{channel}}': `sum by (channel) (rate(sluice_failovers_total{${at}}${every}))`,
      }),
      lines('Channels left out, credentials not ready', 'none', {
        '{{channel}} {{state}}': `sum by (channel, state) (sluice_channel_breaker{${at},state!="closed"}) > 0`,
        '{{channel}}: credentials {{state}}': `sum by (channel, state) (sluice_channel_credentials{${at},state!="ready"}) > 0`,
      }),
    ],
  },
  {
    title: 'Times',
    panels: [
      lines('First token', 's', {
        p50: quantile(0.5, firstToken, 'le'),
        p95: quantile(0.95, firstToken, 'le'),
        p99: quantile(0.99, firstToken, 'le'),
      }),
      lines('First token, p95 by model', 's', {
        '{{model}}': quantile(0.95, firstToken, 'le, model'),
      }),
      lines('Duration of streams', 's', {
        p50: quantile(0.5, duration, 'le', `${of},stream="true"`),
        p95: quantile(0.95, duration, 'le', `${of},stream="true"`),
        p99: quantile(0.99, duration, 'le', `${of},stream="true"`),
      }),
      lines('Duration of other requests', 's', {
        p50: quantile(0.5, duration, 'le', `${of},stream="false"`),
        p95: quantile(0.95, duration, 'le', `${of},stream="false"`),
        p99: quantile(0.99, duration, 'le', `${of},stream="false"`),
      }),
    ],
  },
  {
    title: 'Tokens and money',
    panels: [
      lines('Tokens per second, by kind', 'none', {
        '{{kind}}': `sum by (kind) (rate(sluice_tokens_total{${of},kind!="reasoning"}${every}))`,
        'reasoning (part of output)': `sum(rate(sluice_tokens_total{${of},kind="reasoning"}${every}))`,
      }),
      lines(
        'Output tokens per second, by model',
        'none',
        {
          '{{model}}': `sum by (model) (rate(sluice_tokens_total{${of},kind="output"}${every}))`,
        },
        true,
      ),
      lines(
        'Charged per hour, by model',
        'currencyUSD',
        {
          '{{model}}': `sum by (model) (rate(sluice_charged_usd_total{${of}}${every})) * 3600`,
        },
        true,
      ),
      lines('Responses by the source of their usage', 'reqps', {
        '{{source}}': `sum by (source) (rate(sluice_usage_total{${at}}${every}))`,
      }),
      lines('Used without a price, in an hour', 'none', {
        '{{model}} {{use}}': `sum by (model, use) (increase(sluice_unpriced_uses_total{${of}}[1h]))`,
      }),
      lines('Usage that is not read, in an hour', 'none', {
        '{{model}} {{path}}': `sum by (model, path) (increase(sluice_unread_usage_total{${of}}[1h]))`,
      }),
    ],
  },
  {
    title: 'Books and other services',
    panels: [
      lines('Records in the journal', 'none', { '{{instance}}': `sluice_journal_depth{${at}}` }),
      lines('Degraded components', 'none', {
        '{{instance}} {{component}}': `sluice_degraded{${at}} > 0`,
      }),
      lines('Leases of silent processes, charges without leases', 'currencyUSD', {
        '{{instance}} silent': `sluice_freed_leases_usd{${at}}`,
        '{{instance}} unleased': `sluice_unleased_usd{${at}}`,
      }),
      lines('Records lost, attempts cut off by a crash', 'none', {
        '{{instance}} lost': `increase(sluice_usage_records_lost_total{${at}}[1h])`,
        '{{instance}} cut off': `sluice_unfinished_attempts_total{${at}}`,
      }),
      lines('Nodes that each node knows', 'none', { '{{instance}}': `sluice_live_nodes{${at}}` }),
      lines('Log lines dropped, uncaught errors, in an hour', 'none', {
        '{{instance}} lines': `increase(sluice_log_lines_dropped_total{${at}}[1h])`,
        '{{instance}} {{kind}}': `increase(sluice_uncaught_errors_total{${at}}[1h])`,
      }),
    ],
  },
  {
    title: 'Nodes',
    panels: [
      lines('Event-loop lag, p99', 's', {
        '{{instance}}': `nodejs_eventloop_lag_p99_seconds{${at}}`,
      }),
      lines('CPU', 'percentunit', {
        '{{instance}}': `rate(process_cpu_seconds_total{${at}}${every})`,
      }),
      lines('Memory', 'bytes', {
        '{{instance}} resident': `process_resident_memory_bytes{${at}}`,
        '{{instance}} heap': `nodejs_heap_size_used_bytes{${at}}`,
      }),
      lines('Memory for bodies', 'bytes', {
        '{{instance}}': `sluice_body_memory_bytes{${at}}`,
        '{{instance}} limit': `sluice_body_memory_limit_bytes{${at}}`,
      }),
      lines('Spool', 'bytes', {
        '{{instance}}': `sluice_spool_bytes{${at}}`,
        '{{instance}} limit': `sluice_spool_limit_bytes{${at}}`,
      }),
      lines('Refused for lack of room', 'reqps', {
        '{{instance}} {{cause}}': `rate(sluice_overload_refusals_total{${at}}${every})`,
        '{{instance}} bodies': `rate(sluice_body_memory_refusals_total{${at}}${every})`,
        '{{instance}} spool': `rate(sluice_spool_refusals_total{${at}}${every})`,
      }),
      lines('Open files and connections', 'none', {
        '{{instance}}': `process_open_fds{${at}}`,
        '{{instance}} limit': `process_max_fds{${at}}`,
      }),
    ],
  },
  {
    title: 'Video tasks',
    panels: [
      lines(
        'Open tasks',
        'none',
        {
          '{{state}} {{channel}}': `max by (state, channel) (sluice_video_tasks_open{${at}})`,
        },
        true,
      ),
      lines('Ended in an hour', 'none', {
        '{{outcome}} {{error}}': `sum by (outcome, error) (increase(sluice_video_tasks_ended_total{${at}}[1h]))`,
      }),
      lines('Looks at upstreams', 'reqps', {
        '{{result}}': `sum by (result) (rate(sluice_video_looks_total{${at}}${every}))`,
      }),
      lines('The latest look is late by', 's', {
        late: `max(sluice_video_look_lag_seconds{${at}})`,
      }),
      lines('Expired, lost, uncertain in a day', 'none', {
        expired: `sum(increase(sluice_video_tasks_expired_total{${at}}[1d]))`,
        lost: `sum(increase(sluice_video_tasks_lost_total{${at}}[1d]))`,
        uncertain: `sum(increase(sluice_video_submits_uncertain_total{${at}}[1d]))`,
      }),
      lines('Files copied in an hour', 'none', {
        '{{result}}': `sum by (result) (increase(sluice_video_results_total{${at}}[1h]))`,
      }),
    ],
  },
];
