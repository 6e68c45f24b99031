import { readFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { startGatewayPlace } from '../support/gateway-place.ts';
import type { AttackersData } from './attackers.worker.ts';
import { createMemoryGroup } from './memory-group.ts';

/** Seconds under attack; set by `npm run test:attacks`. */
const seconds = Number(process.env['SLUICE_ATTACK_SECONDS'] ?? 12);
const gibibyte = 2 ** 30;
const victimKey = 'sk-victim-0123456789abcdefghijklmnopqrstuv';
const keys = Array.from({ length: 24 }, (_, at) => `sk-attacker-${at}-`.padEnd(48, '0'));

const publicHost = new URL('./public-host.preload.mjs', import.meta.url).href;

function startThread(name: string, data?: AttackersData): Worker {
  const worker = new Worker(new URL(name, import.meta.url), { workerData: data });
  onTestFinished(async () => void (await worker.terminate()));
  return worker;
}

/** The most memory that the process had at any time, in bytes. */
function peakOf(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

interface Served {
  readonly times: number[];
  readonly statuses: Record<string, number>;
}

const agent = new Agent({ keepAlive: true });

function ask(url: string, body: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const request = httpRequest(`${url}/v1/chat/completions`, {
      method: 'POST',
      agent,
      headers: {
        authorization: `Bearer ${victimKey}`,
        'content-type': 'application/json',
        'content-length': body.length,
      },
    });
    request.on('error', ({ message }) => resolve(message));
    request.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(String(response.statusCode)));
    });
    request.end(body);
  });
}

/** The service for an unrelated key: prompts of 2 KB, every tenth of 200 KB, one after another. */
async function serve(url: string, seconds: number): Promise<Served> {
  const prompt = (bytes: number): Buffer =>
    Buffer.from(
      JSON.stringify({
        model: 'm',
        messages: [{ role: 'user', content: 'word '.repeat(bytes / 5) }],
      }),
    );
  const [short, long] = [prompt(2_000), prompt(200_000)];
  const served: Served = { times: [], statuses: {} };
  const end = performance.now() + seconds * 1_000;
  for (let at = 1; performance.now() < end; at += 1) {
    const startedAt = performance.now();
    const status = await ask(url, at % 10 === 0 ? long : short);
    served.times.push(performance.now() - startedAt);
    served.statuses[status] = (served.statuses[status] ?? 0) + 1;
    await wait(20);
  }
  return served;
}

function percentile(times: readonly number[], part: number): number {
  const sorted = times.toSorted((one, other) => one - other);
  return Math.round((sorted[Math.floor(sorted.length * part)] ?? 0) * 10) / 10;
}

test(
  'with 1 GiB the gateway survives every attack on its memory, and serves another key meanwhile',
  async () => {
    const group = createMemoryGroup(`sluice-attacks-${process.pid}`, gibibyte);
    // After the gateway has ended: what was said last is done first.
    onTestFinished(() => group?.remove());
    const upstream = startThread('./attack-upstream.worker.ts');
    const address = await new Promise<string>((resolve) => upstream.once('message', resolve));
    const media = startThread('./attack-media.worker.ts');
    const port = await new Promise<number>((resolve) => media.once('message', resolve));
    const place = await startGatewayPlace({
      config: `
limits: { ${group === null ? 'body_memory: 256MiB' : ''} }
channels:
  - { name: up, provider: openai-compatible, base_url: "${address}", api_key: x, models: [m] }
  - { name: bytes, provider: gemini, base_url: "${address}", api_key: x, models: [g] }
models:
  - { id: m, type: chat, price: { input: 1, output: 1 } }
  - { id: g, type: chat, price: { input: 1, output: 1 }, capabilities: [vision] }
users:
  - { email: victim@example.com, balance: 100000 }
  - { email: rich@example.com, balance: 100000 }
  - { email: poor@example.com, balance: 0.05 }
keys:
  - { name: victim, user: victim@example.com, secret: ${victimKey} }
${keys.map((key, at) => `  - { name: a${at}, user: ${at % 2 === 0 ? 'rich' : 'poor'}@example.com, secret: ${key} }`).join('\n')}
`,
      within: group?.within ?? [],
      environment: { NODE_OPTIONS: `--import ${publicHost}` },
    });
    const { gateway, url } = place;
    await serve(url, 2);
    const calm = await serve(url, Math.min(30, seconds / 3));
    const attack = async (seconds: number, only?: string) => {
      const attackers = startThread('./attackers.worker.ts', {
        port: Number(new URL(url).port),
        keys,
        images: `https://93.184.216.34:${port}`,
        ...(only !== undefined && { only }),
      });
      let counts: Record<string, number> = {};
      attackers.on('message', (message: Record<string, number>) => {
        counts = message;
      });
      await new Promise((resolve) => attackers.once('message', resolve));
      const served = await serve(url, seconds);
      await attackers.terminate();
      return { served, counts };
    };
    // Among the others it finds no room, so it has some time of its own.
    const images = await attack(seconds / 3, 'pictures');
    const imagesPeak = peakOf(gateway.child.pid);
    const { served: attacked, counts } = await attack(seconds);
    const peak = peakOf(gateway.child.pid);

    const report = {
      seconds,
      cgroup: group !== null,
      peakMiB: Math.round(peak / 2 ** 20),
      calm: [percentile(calm.times, 0.5), percentile(calm.times, 0.99)],
      attacked: [percentile(attacked.times, 0.5), percentile(attacked.times, 0.99)],
      statuses: attacked.statuses,
      images: {
        peakMiB: Math.round(imagesPeak / 2 ** 20),
        served: [percentile(images.served.times, 0.5), percentile(images.served.times, 0.99)],
        counts: images.counts,
      },
      counts,
    };
    if (process.env['SLUICE_ATTACK_SECONDS'] !== undefined) console.log(report);
    expect([gateway.child.exitCode, gateway.child.signalCode, group?.kills() ?? 0]).toEqual([
      null,
      null,
      0,
    ]);
    expect(peak).toBeLessThan(gibibyte);
    // What has no room is refused before it is read.
    expect(Object.keys(images.counts)).toContain('pictures 503');
    // A machine with other work may be overloaded now and then, and responds so.
    const { '200': served = 0, '503': overloaded = 0, ...others } = attacked.statuses;
    expect(others).toEqual({});
    expect(served).toBeGreaterThan(2 * overloaded);
    expect(served).toBeGreaterThan(seconds / 2);
    // All of it is given back.
    const end = performance.now() + 10_000;
    const held = async () =>
      /^sluice_body_memory_bytes (\d+)/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1];
    while ((await held()) !== '0' && performance.now() < end) await wait(100);
    expect(await held()).toBe('0');
  },
  (seconds * 2.5 + 90) * 1_000,
);
