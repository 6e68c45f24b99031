import type { Bench } from './bench.ts';
import { cpuPerRequest, delays, difference, medianSpread, type Delays } from './measure.ts';
import type { ResultRow } from './report.ts';
import { loadFor, modelOf } from './requests.ts';
import { median } from './statistics.ts';
import type { Target } from './targets.ts';

/** Milliseconds between the events of a stream. */
const gap = 5;
/** Half load: the share of its core that the last target is to be busy for, and how far off it may be. */
const half = 0.5;
const tolerance = 0.1;

interface Measured {
  readonly name: Target['name'];
  readonly rate: number;
  readonly seen: Delays;
}

/** The time that each target adds to the first byte and to the end of a stream while the last target is half busy. */
export async function measureDelays(bench: Bench): Promise<ResultRow[]> {
  const measured = await measureRounds(bench);
  const { targets, settings } = bench;
  const of = (name: Target['name']) => measured.filter((one) => one.name === name);
  const direct = medianSpread(of('direct').map(({ seen }) => seen.end));
  const last = of(targets.at(-1)?.name ?? 'direct');
  const rate = Math.round(median(last.map((one) => one.rate)));
  const busy = median(last.map((one) => (one.rate * one.seen.cpu) / 1e6));
  const tooSlow = direct.p99 > 3_000;
  const offHalf = settings.rate === null && Math.abs(busy - half) > tolerance;
  if (tooSlow) settings.progress('without a proxy p99 is above 3 ms: the driving core is too busy');
  if (offHalf) settings.progress(`it was busy for ${Math.round(busy * 100)} % instead of half`);

  const row = (what: string, pick: 'firstByte' | 'end', at: 'p50' | 'p99', atMost: number) => {
    const base = medianSpread(of('direct').map(({ seen }) => seen[pick]));
    const added = targets.map(({ name }) => {
      const own = medianSpread(of(name).map(({ seen }) => seen[pick]));
      return [name, difference(own, base)[at] / 1_000] as const;
    });
    const title = `added to the ${what} of a stream, ${rate}/s, ${at}`;
    const values = Object.fromEntries(added);
    return { title, unit: 'ms', values, bound: { atMost }, unsure: tooSlow || offHalf } as const;
  };
  return [
    row('first byte', 'firstByte', 'p50', 0.5),
    row('first byte', 'firstByte', 'p99', 3),
    row('end', 'end', 'p50', 1),
    row('end', 'end', 'p99', 5),
  ];
}

/**
 * Measures all targets in turns. A shared machine changes its speed, so each round uses the cost of a stream from the
 * round before.
 */
async function measureRounds({ settings, targets, upstream }: Bench): Promise<readonly Measured[]> {
  const { protocol, rounds, progress } = settings;
  const loadOn = ({ port }: Pick<Target, 'port'>) =>
    loadFor(port, { protocol, stream: true, size: 1_500, model: modelOf(protocol) });
  const rateAt = (cpu: number) => settings.rate ?? Math.round((half * 1e6) / cpu);
  await upstream.pace({ gap });
  const last = targets.at(-1) ?? upstream;
  let cpu = await cpuPerRequest(last, loadOn(last), { connections: 64, count: 640 });
  // The first round measures the cost of a stream at random moments.
  ({ cpu } = await delays(last, loadOn(last), rateAt(cpu), 2));
  const measured: Measured[] = [];
  for (let round = 1; round <= rounds; round++) {
    const rate = rateAt(cpu);
    for (const target of [upstream, ...targets]) {
      const seen = await delays(target, loadOn(target), rate, 6);
      measured.push({ name: target.name, rate, seen });
      cpu = seen.cpu;
      const { firstByte, end } = seen;
      progress(
        `round ${round}: ${target.name} ${rate}/s, ${Math.round((rate * cpu) / 1e4)} % busy, first byte ${spreadText(firstByte)}, end ${spreadText(end)}`,
      );
    }
  }
  return measured;
}

const spreadText = ({ p50, p99 }: Delays['end']) =>
  `${(p50 / 1e3).toFixed(2)}/${(p99 / 1e3).toFixed(1)} ms`;
