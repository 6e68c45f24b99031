import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '#database/index.ts';
import { catalogue } from '#errors/index.ts';
import { generations, imageChannel, imageModel } from '../behaviour/image-requests.ts';
import { ask, describeChannels, openGateway, until } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { contents, submitted } from '../behaviour/video-requests.ts';
import { blockWriters } from '../database/block-writers.ts';
import { answerWith, startOwnUpstream } from '../support/own-upstream.ts';
import { startVideoUpstream } from '../support/video-upstream.ts';
import { expressions } from '../monitoring/files.ts';
import { scrape, valueOf } from './support.ts';

const chat = textProtocols[0]!;

test('a channel’s breaker and its credentials are reported by state', async () => {
  const gateway = await openGateway({
    config: describeChannels([
      { name: 'bad', at: '/fault(status=500)', models: ['m -> demo-chat'], more: ['priority: 9'] },
      {
        name: 'limited',
        at: '/fault(status=429;retry-after=60)',
        models: ['m -> demo-chat'],
        more: ['priority: 8', 'api_key: some'],
      },
      {
        name: 'half-refused',
        models: ['n -> demo-chat'],
        more: ['priority: 7', 'api_keys: [invalid-one, good-one]'],
      },
      { name: 'good', models: ['m -> demo-chat', 'n -> demo-chat'] },
    ]),
  });
  const read = async (channel: string) => {
    const metrics = await scrape(gateway.url);
    const values = (name: string, states: readonly string[]) =>
      states.map((state) => valueOf(metrics, name, { channel, state }));
    return [
      values('sluice_channel_breaker', ['closed', 'open', 'half-open']),
      values('sluice_channel_credentials', ['ready', 'cooling', 'disabled']),
    ];
  };
  const well = [
    [1, 0, 0],
    [1, 0, 0],
  ];
  expect(await read('bad')).toEqual(well);
  expect(await read('half-refused')).toEqual([
    [1, 0, 0],
    [2, 0, 0],
  ]);

  for (let turn = 0; turn < 6; turn += 1) {
    for (const model of ['m', 'n']) {
      expect((await ask(gateway, chat, false, model)).status).toBe(200);
    }
  }
  expect(await read('bad')).toEqual([
    [0, 1, 0],
    [1, 0, 0],
  ]);
  expect(await read('limited')).toEqual([
    [1, 0, 0],
    [0, 1, 0],
  ]);
  expect(await read('half-refused')).toEqual([
    [1, 0, 0],
    [1, 0, 1],
  ]);
  expect(await read('good')).toEqual(well);
});

test('the journal’s depth counts what the database does not have yet', async () => {
  const warnings: string[] = [];
  const gateway = await openGateway({ logger: { warn: (message) => void warnings.push(message) } });
  const depth = async () => valueOf(await scrape(gateway.url), 'sluice_journal_depth');
  await ask(gateway, chat, false);
  await until(async () => (await depth()) === 0, 'the first row is in the database');

  const other = openDatabase({ url: gateway.databaseUrl });
  const unblock = await blockWriters(other);
  try {
    for (let turn = 0; turn < 3; turn += 1) {
      expect((await ask(gateway, chat, false)).status).toBe(200);
    }
    expect(await depth()).toBe(3);
  } finally {
    await unblock();
    await other.close();
  }
  await until(async () => (await depth()) === 0, 'all rows are in the database', 20_000);
  expect(await gateway.usage()).toHaveLength(4);
});

/** Of the table of series: name to labels. */
function documentedSeries(): Map<string, string[]> {
  const page = readFileSync(new URL('../../../docs/observability.md', import.meta.url), 'utf8');
  const rows = page.matchAll(/^\| `(sluice_\w+)` +\| ([^|]*)\|/gm);
  return new Map(
    [...rows].map(([, name = '', labels = '']) => [
      name,
      // Only the labels themselves: what stands in brackets or behind a colon are their values.
      [...labels.replaceAll(/\([^)]*\)|:.*/g, '').matchAll(/`(\w+)`/g)].map(([, label]) => label!),
    ]),
  );
}

/** Of the metrics: what the rules and the dashboard name and nothing has. */
function unknownTo(metrics: string, documented: ReadonlyMap<string, string[]>): string[] {
  // `up` is Prometheus's own, and so are the labels of the target.
  const series = new Set([
    'up',
    ...Array.from(metrics.matchAll(/^(\w+)[{ ]/gm), ([, name]) => name),
  ]);
  const ofTarget = ['instance', 'job', 'le'];
  const page = readFileSync(new URL('../../../docs/observability.md', import.meta.url), 'utf8');
  return expressions.flatMap(([where, expr]) => {
    const names = expr.match(/\b(?:up|(?:sluice|process|nodejs)_\w+)\b/g) ?? [];
    const labels = names.flatMap((name) => documented.get(name.replace(/_bucket$/, '')) ?? []);
    const matchers = [...expr.matchAll(/(\w+)(?:!=|=~|!~|=)"([^"]*)"/g)];
    const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) =>
      list.split(', '),
    );
    const used = [...matchers.map(([, label = '']) => label), ...grouped];
    // A value is a word of the page, an error, or one that was counted.
    const values = matchers
      .filter(([, label = '']) => !ofTarget.includes(label))
      .flatMap(([, , value = '']) => value.split('|'))
      .filter((value) => !value.startsWith('$'));
    return [
      ...(names.length === 0 ? ['no series'] : []),
      ...names.filter((name) => !series.has(name)),
      ...used.filter((label) => !labels.includes(label) && !ofTarget.includes(label)),
      ...values.filter(
        (value) =>
          !(value in catalogue) &&
          !page.includes(`\`${value}\``) &&
          !metrics.includes(`"${value}"`),
      ),
    ].map((name) => `${where}: ${name}`);
  });
}

test(
  'the documented series exist with their labels, and no others',
  { timeout: 90_000 },
  async () => {
    const upstream = await startOwnUpstream();
    onTestFinished(() => upstream.close());
    const counts = { prompt_tokens: 1, completion_tokens: 1 };
    const uses = { server_tool_use: { web_search_requests: 1 }, gadgets: 1 };
    upstream.answer = answerWith({ ...counts, ...uses });
    const described = describeChannels([
      { name: 'bad', at: '/fault(status=500)', models: ['demo-chat'], more: ['priority: 1'] },
      { name: 'good', models: ['demo-chat'] },
      { name: 'searching', at: upstream.url, models: ['searching'] },
    ]);
    const videos = await startVideoUpstream();
    const others = `channels:
${imageChannel({ name: 'demo-image' })}
  - { name: filming, provider: ark, base_url: "${videos.url}/api/v3", models: [demo-film] }`;
    const gateway = await openGateway({
      config: `video: { poll_interval: 1s }
${described.replace('channels:', others)}
${imageModel({ id: 'demo-image' })}
  - { id: demo-film, type: video, price: { video_tokens: { 720P: { text: 7, with_video: 4 } } } }`,
    });
    const image = { model: 'demo-image', prompt: 'a house', size: '256x256' };
    expect((await gateway.post(generations, image)).status).toBe(200);
    await ask(gateway, chat, true);
    // Nothing says what its searches cost, and nothing reads its gadgets.
    const searched = await ask(gateway, chat, false, 'searching');
    expect(searched.status).toBe(200);
    await fetch(`${gateway.url}/no/such/path`);
    await submitted(gateway.url, contents, { model: 'demo-film' });
    videos.end({ status: 'succeeded', usage: 1000 });
    // Reading all series a hundred times a second would be most of the work.
    const read = () => expect.poll(() => scrape(gateway.url), { timeout: 30_000, interval: 200 });
    await read().toContain('sluice_video_tasks_ended_total{');
    await submitted(gateway.url, contents, { model: 'demo-film' });
    await read().toContain('sluice_video_tasks_open{');
    const metrics = await scrape(gateway.url);

    const documented = documentedSeries();
    const names = [...metrics.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name);
    expect(names.filter((name) => name.startsWith('sluice_')).toSorted()).toEqual(
      [...documented.keys()].toSorted(),
    );
    expect(names.filter((name) => !/^(sluice|process|nodejs)_/.test(name))).toEqual([]);
    for (const kind of ['process_', 'nodejs_']) {
      expect(names.some((name) => name.startsWith(kind))).toBe(true);
    }

    for (const [name, labels] of documented) {
      const series = metrics.split('\n').filter((line) => {
        const [own = ''] = line.split(/[{ ]/);
        return own === name || own === `${name}_bucket`;
      });
      expect([name, series.length > 0]).toEqual([name, true]);
      for (const line of series) {
        const found = [...line.matchAll(/[{,](\w+)="/g)].map(([, label]) => label!);
        expect([name, found.filter((label) => label !== 'le').toSorted()]).toEqual([
          name,
          labels.toSorted(),
        ]);
      }
    }
    expect(unknownTo(metrics, documented)).toEqual([]);
    // The video and the requests have prices.
    for (const model of ['demo-film', 'demo-chat']) {
      expect(valueOf(metrics, 'sluice_charged_usd_total', { model })).toBeGreaterThan(0);
    }
  },
);
