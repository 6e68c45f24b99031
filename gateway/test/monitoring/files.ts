import { resolve } from 'node:path';
import { stringify } from 'yaml';
import { alerts, type Alert, type Sample } from './alerts.ts';
import { sections, type Panel } from './panels.ts';

/* The files of `deploy` for monitoring, and the table of `docs/observability.md`, from the tables of this folder. */

const root = resolve(import.meta.dirname, '../../..');

export const files = {
  rules: resolve(root, 'deploy/prometheus/rules.yaml'),
  ruleTests: resolve(root, 'deploy/prometheus/rules-test.yaml'),
  dashboard: resolve(root, 'deploy/grafana/sluice.json'),
  page: resolve(root, 'docs/observability.md'),
};

/** Whoever looks at an alert has no links to follow beside the page itself. */
const plain = (markdown: string): string => markdown.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');

/** How often rules are evaluated, and the examples are scraped: a page within a minute needs more than the usual one. */
const interval = '15s';

const annotationsOf = ({ summary, action }: Alert): Record<string, string> => ({
  summary,
  description: plain(action),
});

/** `deploy/prometheus/rules.yaml` */
export const rules = {
  groups: [
    {
      name: 'sluice',
      interval,
      rules: alerts.map((alert) => ({
        alert: alert.name,
        expr: alert.expr,
        ...(alert.lasting !== undefined && { for: alert.lasting }),
        labels: { severity: alert.severity },
        annotations: annotationsOf(alert),
      })),
    },
  ],
};

/** For `promtool test rules`: each alert fires once, and once does not. */
export const ruleTests = {
  rule_files: ['rules.yaml'],
  evaluation_interval: interval,
  tests: alerts.flatMap((alert) => [
    ruleTest(alert, alert.fires, 'fires'),
    ruleTest(alert, alert.silent, 'silent'),
  ]),
};

function ruleTest(alert: Alert, { series, at, labels = {} }: Sample, what: 'fires' | 'silent') {
  return {
    name: `${alert.name} ${what}`,
    interval,
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [
      {
        eval_time: at,
        alertname: alert.name,
        ...(what === 'fires' && {
          exp_alerts: [
            {
              exp_labels: { severity: alert.severity, ...labels },
              exp_annotations: annotationsOf(alert),
            },
          ],
        }),
      },
    ],
  };
}

const header = '# Written by `npm run monitoring`: change gateway/test/monitoring instead.\n';
export const toYaml = (content: object): string => header + stringify(content, { lineWidth: 0 });

const source = { type: 'prometheus', uid: '${datasource}' };

/** `deploy/grafana/sluice.json`, for Grafana 10 and later. */
export const dashboard = {
  title: 'Sluice',
  uid: 'sluice',
  tags: ['sluice'],
  schemaVersion: 39,
  editable: true,
  graphTooltip: 1,
  refresh: '30s',
  time: { from: 'now-6h', to: 'now' },
  timezone: 'browser',
  annotations: { list: [] },
  templating: {
    list: [
      { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
      variable('instance', 'Node', 'label_values(sluice_journal_usable, instance)'),
      variable('model', 'Model', 'label_values(sluice_requests_total, model)'),
    ],
  },
  panels: layOut(),
};

function variable(name: string, label: string, query: string): object {
  return {
    name,
    label,
    type: 'query',
    datasource: source,
    query: { query, refId: name },
    refresh: 2,
    sort: 1,
    multi: true,
    includeAll: true,
    allValue: '.*',
    current: { text: ['All'], value: ['$__all'] },
  };
}

/** A dashboard is 24 units wide. */
function layOut(): object[] {
  const panels: object[] = [];
  let top = 0;
  const add = (panel: object, gridPos: object) =>
    panels.push({ id: panels.length + 1, ...panel, gridPos });
  for (const section of sections) {
    add(
      { type: 'row', title: section.title, collapsed: false, panels: [] },
      {
        x: 0,
        y: top,
        w: 24,
        h: 1,
      },
    );
    top += 1;
    const [width, height] = section.panels[0]?.kind === 'stat' ? [3, 4] : [8, 8];
    const perLine = 24 / width;
    section.panels.forEach((panel, index) => {
      const x = (index % perLine) * width;
      const y = top + Math.floor(index / perLine) * height;
      add(panelOf(panel), { x, y, w: width, h: height });
    });
    top += Math.ceil(section.panels.length / perLine) * height;
  }
  return panels;
}

function panelOf({ title, kind, unit, queries, stacked = false }: Panel): object {
  const targets = queries.map(({ expr, legend }, index) => ({
    refId: String.fromCodePoint(65 + index),
    datasource: source,
    editorMode: 'code',
    expr,
    legendFormat: legend,
    ...(kind === 'stat' && { instant: true }),
  }));
  if (kind === 'stat') {
    const options = {
      colorMode: 'none',
      graphMode: 'none',
      justifyMode: 'auto',
      orientation: 'auto',
      percentChangeColorMode: 'standard',
      reduceOptions: { calcs: ['lastNotNull'], values: false },
      showPercentChange: false,
      textMode: 'auto',
      wideLayout: true,
    };
    return {
      type: kind,
      title,
      datasource: source,
      targets,
      fieldConfig: { defaults: { unit }, overrides: [] },
      options,
    };
  }
  const custom = {
    fillOpacity: stacked ? 20 : 0,
    showPoints: 'never',
    stacking: { mode: stacked ? 'normal' : 'none' },
  };
  return {
    type: kind,
    title,
    datasource: source,
    targets,
    fieldConfig: { defaults: { unit, min: 0, custom }, overrides: [] },
    options: {
      legend: { calcs: [], displayMode: 'list', placement: 'bottom', showLegend: true },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
  };
}

const begin = '<!-- alerts: written by `npm run monitoring` -->';
const end = '<!-- /alerts -->';

/** The page with today's table of alerts. @throws Error if the page does not mark where the table stands. */
export function withAlerts(page: string): string {
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error('the page has no marks');
  const cell = (text: string): string => text.replaceAll('|', String.raw`\|`);
  const rows = alerts.map(({ name, severity, expr, lasting, action }) => {
    const fires = `\`${expr}\`${lasting === undefined ? '' : ` for ${lasting}`}`;
    return `| \`${name}\` | ${severity} | ${cell(fires)} | ${cell(action)} |`;
  });
  const table = [
    '| Alert | Severity | Fires when | What is wrong, and what to do |',
    '| --- | --- | --- | --- |',
    ...rows,
  ];
  return `${before}${begin}\n\n${table.join('\n')}\n\n${end}${after}`;
}

/** Every expression of the rules and the dashboard, with where it stands. */
export const expressions: readonly (readonly [where: string, expr: string])[] = [
  ...alerts.map(({ name, expr }) => [name, expr] as const),
  ...sections.flatMap(({ panels }) =>
    panels.flatMap(({ title, queries }) => queries.map(({ expr }) => [title, expr] as const)),
  ),
];
