/** An alert of `deploy/prometheus/rules.yaml`, with what shows that it is right. */
export interface Alert {
  readonly name: string;
  /** `page`: somebody must act now. `ticket`: within a working day. */
  readonly severity: 'page' | 'ticket';
  readonly expr: string;
  /** How long the expression holds before the alert fires. Absent: it fires at once. */
  readonly lasting?: string;
  readonly summary: string;
  /** Markdown for `docs/observability.md`; the rule has its plain text. */
  readonly action: string;
  readonly fires: Sample;
  readonly silent: Sample;
}

/** Series of one scrape every 15 seconds in promtool's notation, and when the alert is looked at. */
export interface Sample {
  readonly series: Readonly<Record<string, string>>;
  readonly at: string;
  /** Labels of the alert that fires. Default: that of the only node, without labels of its own */
  readonly labels?: Readonly<Record<string, string>>;
}

const node = 'job="sluice",instance="a:8080"';
const nodeLabels = { job: 'sluice', instance: 'a:8080' };

/** Requests that the gateway itself refuses, with a known model or before. */
const early = 'sluice_refusals_total{error=~"internal_error|overloaded|unavailable"}';
const refused = `sum by (instance) (rate(sluice_requests_total{outcome="refused",status_class="5xx"}[1m]) or rate(${early}[1m]))`;
const requests = `sum by (instance) (rate(sluice_requests_total[1m]) or rate(${early}[1m]))`;

/** A combination of labels appears with its first event, and a series that begins with 1 has not increased. */
const risen = (series: string, window: string): string =>
  `increase(${series}[${window}]) > 0 or (${series} unless ${series} offset ${window})`;

const completed = `sluice_requests_total{${node},outcome="completed",status_class="2xx",model="m"}`;

export const alerts: readonly Alert[] = [
  {
    name: 'SluiceDown',
    severity: 'page',
    expr: 'up{job="sluice"} == 0 or absent(up{job="sluice"})',
    lasting: '1m',
    summary: 'A node does not respond.',
    action:
      'A node does not respond, or Prometheus has no target with the job `sluice`. See [when a part is lost](several-nodes.md#when-a-part-is-lost).',
    fires: { series: { [`up{${node}}`]: '1 0x8' }, at: '2m', labels: nodeLabels },
    silent: { series: { [`up{${node}}`]: '1 0 1x8' }, at: '2m' },
  },
  {
    name: 'SluiceRefusing',
    severity: 'page',
    expr: `${refused} / ${requests} > 0.2 and ${refused} > 0.05`,
    summary: 'The gateway refuses requests that it should serve.',
    action:
      'More than a fifth of the requests of the last minute got a 5xx without an upstream being asked. `GET /ready` and `GET /health` of the node [say why](#health): no disk for the journal, no database, no room.',
    // All is well for two minutes, then nothing is; the refusals are a new series.
    fires: {
      series: {
        [completed]: '0+150x8 1200x8',
        [`sluice_requests_total{${node},outcome="refused",status_class="5xx",model="m"}`]:
          '_x8 150+150x8',
      },
      at: '3m',
      labels: { instance: 'a:8080' },
    },
    // A client out of money, and many wrong keys.
    silent: {
      series: {
        [completed]: '0+150x16',
        [`sluice_requests_total{${node},outcome="refused",status_class="4xx",model="m"}`]:
          '0+150x16',
        [`sluice_refusals_total{${node},error="invalid_key"}`]: '0+900x16',
      },
      at: '3m',
    },
  },
  {
    name: 'SluiceFailing',
    severity: 'page',
    expr: 'sum(rate(sluice_requests_total{outcome="failed"}[5m])) / sum(rate(sluice_requests_total{outcome!="refused"}[5m])) > 0.05',
    lasting: '2m',
    summary: 'More than 5 % of the requests fail.',
    action:
      'Upstreams fail and no other channel can take over: see `sluice_attempts_total` by `channel` and `result`.',
    fires: {
      series: {
        [completed]: '0+90x40',
        [`sluice_requests_total{${node},outcome="failed",status_class="5xx",model="m"}`]: '0+10x40',
      },
      at: '8m',
      labels: {},
    },
    silent: {
      series: {
        [completed]: '0+990x40',
        [`sluice_requests_total{${node},outcome="failed",status_class="5xx",model="m"}`]: '0+10x40',
      },
      at: '8m',
    },
  },
  {
    name: 'SluiceJournalUnusable',
    severity: 'page',
    expr: 'sluice_journal_usable == 0',
    summary: 'Requests that cost something are refused: usage cannot be made durable.',
    action:
      'The disk of `storage.data_dir` is full or cannot be written, or `journal.max_size` is reached because the database is unreachable. Free the disk, or bring the database back.',
    fires: { series: { [`sluice_journal_usable{${node}}`]: '1 0' }, at: '15s', labels: nodeLabels },
    silent: { series: { [`sluice_journal_usable{${node}}`]: '1 1' }, at: '15s' },
  },
  {
    name: 'SluiceDatabaseDegraded',
    severity: 'page',
    expr: 'sluice_degraded{component=~"database|database-writes"} > 0',
    lasting: '1m',
    summary: 'The database does not respond, or takes no writes.',
    action:
      'Each node serves what its [reserves](books.md#without-the-database) reach for, and then refuses. Bring the database back; `GET /ready` [names what it is](#health).',
    fires: {
      series: { [`sluice_degraded{${node},component="database"}`]: '0 1x8' },
      at: '2m',
      labels: { ...nodeLabels, component: 'database' },
    },
    silent: {
      series: { [`sluice_degraded{${node},component="database"}`]: '0 1 1 0x8' },
      at: '2m',
    },
  },
  {
    name: 'SluiceDegraded',
    severity: 'ticket',
    expr: 'sluice_degraded{component!~"database|database-writes"} > 0',
    lasting: '1m',
    summary: 'A component is degraded.',
    action: '`GET /ready` on the node [names it](#health), and the page says what to do.',
    fires: {
      series: { [`sluice_degraded{${node},component="redis"}`]: '0 1x8' },
      at: '2m',
      labels: { ...nodeLabels, component: 'redis' },
    },
    silent: {
      series: {
        [`sluice_degraded{${node},component="redis"}`]: '0 1 1 0x8',
        [`sluice_degraded{${node},component="database"}`]: '0 1x8',
      },
      at: '2m',
    },
  },
  {
    name: 'SluiceJournalGrowing',
    severity: 'ticket',
    expr: 'deriv(sluice_journal_depth[10m]) > 0 and sluice_journal_depth > 10000',
    lasting: '5m',
    summary: 'Usage records wait on disk, and they become more.',
    action:
      'The database is unreachable or too slow. Records wait on disk up to `journal.max_size`; then requests that cost something are refused.',
    fires: {
      series: { [`sluice_journal_depth{${node}}`]: '9000+100x60' },
      at: '15m',
      labels: nodeLabels,
    },
    silent: { series: { [`sluice_journal_depth{${node}}`]: '20000-100x60' }, at: '15m' },
  },
  {
    name: 'SluiceUsageLost',
    severity: 'ticket',
    expr: 'increase(sluice_usage_records_lost_total[10m]) > 0',
    summary: 'Usage records were lost.',
    action:
      'The disk took no records: those of free requests, or of requests that failed because of it, are missing in the usage. Nothing that costs something is among them. See `journal: records-lost` in [the log](#the-log).',
    fires: {
      series: { [`sluice_usage_records_lost_total{${node}}`]: '0x8 3x8' },
      at: '3m',
      labels: nodeLabels,
    },
    silent: { series: { [`sluice_usage_records_lost_total{${node}}`]: '3x16' }, at: '3m' },
  },
  {
    name: 'SluiceLeasesFreed',
    severity: 'ticket',
    expr: 'sluice_freed_leases_usd > 0',
    summary: 'A process fell silent with money leased, which may be spent twice.',
    action:
      'Start it again, or [adopt its folder](several-nodes.md#journals-that-nobody-holds). The amount is the most that may be spent twice.',
    fires: {
      series: { [`sluice_freed_leases_usd{${node}}`]: '0 2.5' },
      at: '15s',
      labels: nodeLabels,
    },
    silent: { series: { [`sluice_freed_leases_usd{${node}}`]: '0 0' }, at: '15s' },
  },
  {
    name: 'SluiceUnleased',
    severity: 'ticket',
    expr: 'sluice_unleased_usd > 0',
    summary: 'A node serves without leases, because the database is unreachable.',
    action:
      'With `billing.database_away: { up_to: … }`, payers are served [beyond what was leased](books.md#without-the-database), and may exceed their limits by this amount. Bring the database back: it ends when the charges are there.',
    fires: {
      series: { [`sluice_unleased_usd{${node}}`]: '0 0.75' },
      at: '15s',
      labels: nodeLabels,
    },
    silent: { series: { [`sluice_unleased_usd{${node}}`]: '0.75 0' }, at: '15s' },
  },
  {
    name: 'SluiceNodeMissing',
    severity: 'ticket',
    expr: 'max by (job) (sluice_live_nodes) < max by (job) (max_over_time(sluice_live_nodes[1h]))',
    lasting: '5m',
    summary: 'A node or a worker is gone, or does not reach the database.',
    action:
      'Fewer nodes serve than within the last hour; each worker counts as one. If you stopped it for good, the alert ends after an hour.',
    fires: {
      series: { [`sluice_live_nodes{${node}}`]: '3x8 2x40' },
      at: '10m',
      labels: { job: 'sluice' },
    },
    silent: { series: { [`sluice_live_nodes{${node}}`]: '3x8 2x8 3x40' }, at: '10m' },
  },
  {
    name: 'SluiceCredentialRefused',
    severity: 'ticket',
    expr: 'sluice_channel_credentials{state="disabled"} > 0',
    lasting: '1m',
    summary: 'An upstream refuses an API key.',
    action: 'The log names its position in `api_keys`: replace it in the file and reload.',
    fires: {
      series: { [`sluice_channel_credentials{${node},channel="c",state="disabled"}`]: '0 1x8' },
      at: '2m',
      labels: { ...nodeLabels, channel: 'c', state: 'disabled' },
    },
    silent: {
      series: {
        [`sluice_channel_credentials{${node},channel="c",state="disabled"}`]: '0x8',
        [`sluice_channel_credentials{${node},channel="c",state="cooling"}`]: '1x8',
      },
      at: '2m',
    },
  },
  {
    name: 'SluiceFailovers',
    severity: 'ticket',
    expr: 'sum by (channel) (rate(sluice_failovers_total[5m])) > 0.1',
    lasting: '5m',
    summary: 'A channel fails; others take over.',
    action:
      'Clients do not notice yet. `sluice_attempts_total` of the channel says by `result` how it fails.',
    fires: {
      series: { [`sluice_failovers_total{${node},channel="c"}`]: '0+3x60' },
      at: '12m',
      labels: { channel: 'c' },
    },
    silent: { series: { [`sluice_failovers_total{${node},channel="c"}`]: '0+1x60' }, at: '12m' },
  },
  {
    name: 'SluiceSlowFirstToken',
    severity: 'ticket',
    expr: 'histogram_quantile(0.95, sum by (le, model) (rate(sluice_time_to_first_token_seconds_bucket[10m]))) > 10',
    lasting: '5m',
    summary: 'A model responds slowly.',
    action:
      'Of its streams, 5 % wait more than ten seconds for their first content. A channel with a better upstream may get a higher `priority`.',
    fires: {
      series: {
        [`sluice_time_to_first_token_seconds_bucket{${node},model="m",le="10"}`]: '0+8x70',
        [`sluice_time_to_first_token_seconds_bucket{${node},model="m",le="20"}`]: '0+10x70',
        [`sluice_time_to_first_token_seconds_bucket{${node},model="m",le="+Inf"}`]: '0+10x70',
      },
      at: '17m',
      labels: { model: 'm' },
    },
    silent: {
      series: {
        [`sluice_time_to_first_token_seconds_bucket{${node},model="m",le="10"}`]: '0+99x70',
        [`sluice_time_to_first_token_seconds_bucket{${node},model="m",le="20"}`]: '0+100x70',
        [`sluice_time_to_first_token_seconds_bucket{${node},model="m",le="+Inf"}`]: '0+100x70',
      },
      at: '17m',
    },
  },
  {
    name: 'SluiceQuarantinedUsage',
    severity: 'ticket',
    expr: 'increase(sluice_usage_total{source="quarantined"}[1h]) > 0',
    summary: 'An upstream reports implausible usage.',
    action:
      'The charge was limited to the hold ([more](billing.md#numbers-that-cannot-be-true)). Correct the model’s `context_window`, or look at the upstream.',
    fires: {
      series: { [`sluice_usage_total{${node},source="quarantined"}`]: '0x8 1x8' },
      at: '3m',
      labels: { ...nodeLabels, source: 'quarantined' },
    },
    silent: {
      series: {
        [`sluice_usage_total{${node},source="quarantined"}`]: '1x16',
        [`sluice_usage_total{${node},source="estimated"}`]: '0+1x16',
      },
      at: '3m',
    },
  },
  {
    name: 'SluiceUnpricedUse',
    severity: 'ticket',
    expr: risen('sluice_unpriced_uses_total', '1h'),
    summary: 'Clients use something for which their model has no price.',
    action:
      'Upstreams charge you for it, and nobody is charged here: give the model [a price for it](billing.md#from-usage-to-charge).',
    fires: {
      series: { [`sluice_unpriced_uses_total{${node},model="m",use="web_search"}`]: '_x240 1x16' },
      at: '62m',
      labels: { ...nodeLabels, model: 'm', use: 'web_search' },
    },
    silent: {
      series: { [`sluice_unpriced_uses_total{${node},model="m",use="web_search"}`]: '1x260' },
      at: '62m',
    },
  },
  {
    name: 'SluiceVideoMoney',
    severity: 'ticket',
    expr: 'increase(sluice_video_tasks_lost_total[1h]) > 0 or increase(sluice_video_submits_uncertain_total[1h]) > 0',
    summary: 'A vendor may charge you for a video that nobody here pays for.',
    action:
      'Its task had expired when the video was ready, or its submit was cut short: compare the vendor’s bill ([videos](video.md)).',
    fires: {
      series: { [`sluice_video_tasks_lost_total{${node}}`]: '0x8 1x8' },
      at: '3m',
      labels: nodeLabels,
    },
    silent: {
      series: {
        [`sluice_video_tasks_lost_total{${node}}`]: '1x16',
        [`sluice_video_submits_uncertain_total{${node}}`]: '0x16',
      },
      at: '3m',
    },
  },
  {
    name: 'SluiceRefusedClients',
    severity: 'ticket',
    expr: 'sum by (error) (rate(sluice_refusals_total[5m])) > 1',
    lasting: '5m',
    summary: 'Many requests are refused before their model is looked at.',
    action:
      'A client uses a wrong key, or tries many; or it uses a wrong path. `error` is a name of [errors.md](errors.md).',
    fires: {
      series: { [`sluice_refusals_total{${node},error="invalid_key"}`]: '0+30x60' },
      at: '12m',
      labels: { error: 'invalid_key' },
    },
    silent: {
      series: { [`sluice_refusals_total{${node},error="invalid_key"}`]: '0+6x60' },
      at: '12m',
    },
  },
  {
    name: 'SluiceOverloaded',
    severity: 'ticket',
    expr: 'sum by (instance, cause) (rate(sluice_overload_refusals_total[5m])) > 0.1',
    lasting: '2m',
    summary: 'A node refuses requests because it is overloaded.',
    action:
      '`cause` says of what it has too little: [what helps](configuration.md#memory-and-cores).',
    fires: {
      series: { [`sluice_overload_refusals_total{${node},cause="lag"}`]: '0+3x60' },
      at: '8m',
      labels: { instance: 'a:8080', cause: 'lag' },
    },
    silent: {
      series: { [`sluice_overload_refusals_total{${node},cause="lag"}`]: '0+1x60' },
      at: '8m',
    },
  },
  {
    name: 'SluiceEventLoopLag',
    severity: 'ticket',
    expr: 'nodejs_eventloop_lag_p99_seconds{job="sluice"} > 0.2',
    lasting: '5m',
    summary: 'A node has too little CPU.',
    action: 'Requests wait for each other: [what helps](configuration.md#memory-and-cores).',
    fires: {
      series: { [`nodejs_eventloop_lag_p99_seconds{${node}}`]: '0.3x40' },
      at: '6m',
      labels: nodeLabels,
    },
    silent: { series: { [`nodejs_eventloop_lag_p99_seconds{${node}}`]: '0.1x40' }, at: '6m' },
  },
  {
    name: 'SluiceBodyMemory',
    severity: 'ticket',
    expr: 'rate(sluice_body_memory_refusals_total[5m]) > 0.1',
    lasting: '2m',
    summary: 'Bodies need more memory than is available.',
    action:
      'Raise `limits.body_memory` ([more](configuration.md#memory-for-bodies)), or add a node.',
    fires: {
      series: { [`sluice_body_memory_refusals_total{${node}}`]: '0+3x60' },
      at: '8m',
      labels: nodeLabels,
    },
    silent: { series: { [`sluice_body_memory_refusals_total{${node}}`]: '0+1x60' }, at: '8m' },
  },
  {
    name: 'SluiceSpoolFull',
    severity: 'ticket',
    expr: 'rate(sluice_spool_refusals_total[5m]) > 0.1',
    lasting: '2m',
    summary: 'Pictures and large requests have no room.',
    action:
      'If `/ready` names `spool`, repair the disk; else raise `limits.spool`, or make room on the disk.',
    fires: {
      series: { [`sluice_spool_refusals_total{${node}}`]: '0+3x60' },
      at: '8m',
      labels: nodeLabels,
    },
    silent: { series: { [`sluice_spool_refusals_total{${node}}`]: '0+1x60' }, at: '8m' },
  },
  {
    name: 'SluiceUncaughtError',
    severity: 'ticket',
    expr: 'increase(sluice_uncaught_errors_total[1h]) > 0',
    summary: 'A defect of the gateway.',
    action:
      'Report it [with its log line](decisions/0011-uncaught-errors.md), and restart the gateway.',
    fires: {
      series: { [`sluice_uncaught_errors_total{${node},kind="rejection"}`]: '0x8 1x8' },
      at: '3m',
      labels: { ...nodeLabels, kind: 'rejection' },
    },
    silent: {
      series: { [`sluice_uncaught_errors_total{${node},kind="rejection"}`]: '1x16' },
      at: '3m',
    },
  },
  {
    name: 'SluiceFileDescriptors',
    severity: 'ticket',
    expr: 'process_open_fds{job="sluice"} / process_max_fds{job="sluice"} > 0.8',
    lasting: '5m',
    summary: 'A node has opened most of the files and connections that it may open.',
    action: 'Raise the limit (`ulimit -n`, `LimitNOFILE`), or add a node.',
    fires: {
      series: { [`process_open_fds{${node}}`]: '900x40', [`process_max_fds{${node}}`]: '1024x40' },
      at: '6m',
      labels: nodeLabels,
    },
    silent: {
      series: { [`process_open_fds{${node}}`]: '60x40', [`process_max_fds{${node}}`]: '1024x40' },
      at: '6m',
    },
  },
];
