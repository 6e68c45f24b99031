import { EventEmitter, once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Logger } from '#observability/index.ts';
import {
  restartDelayMs,
  type SimulatorChild,
  startSimulatorProcess,
  startTimeoutMs,
} from './simulator-process.ts';

class FakeChild extends EventEmitter {
  readonly stdout = new PassThrough();
  readonly signals: unknown[] = [];
  exitCode: number | null = null;
  signalCode: NodeJS.Signals | null = null;

  kill(signal?: unknown): boolean {
    this.signals.push(signal);
    return true;
  }

  ready(url: string): void {
    this.stdout.write(`sluice-simulator listening on ${url}\n`);
  }

  end(signal: NodeJS.Signals): void {
    this.signalCode = signal;
    this.emit('exit', null, signal);
  }
}

const logger = { error: () => {} } as unknown as Logger;
let children: FakeChild[];
let changes: EventEmitter;
let first: FakeChild;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  children = [];
  changes = new EventEmitter();
  return () => vi.useRealTimers();
});

async function open() {
  const opening = startSimulatorProcess(
    logger,
    '',
    () => changes.emit('change'),
    () => {
      const child = new FakeChild();
      children.push(child);
      return child as unknown as SimulatorChild;
    },
  );
  first = children[0]!;
  first.ready('http://127.0.0.1:1');
  return opening;
}

/** Lets time pass, and what was decided then happen. */
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test('a simulator that does not start in time is ended, and its end does not affect the next', async () => {
  const simulator = await open();
  first.end('SIGKILL');
  expect(simulator.url()).toBe(null);
  await pass(restartDelayMs);
  const hung = children[1]!;
  await pass(startTimeoutMs);
  expect(hung.signals).toEqual(['SIGKILL']);
  await pass(restartDelayMs);
  expect(children).toHaveLength(3);
  const changed = once(changes, 'change');
  children[2]!.ready('http://127.0.0.1:3');
  await changed;
  hung.end('SIGKILL');
  expect(simulator.url()).toBe('http://127.0.0.1:3');
  await pass(restartDelayMs);
  expect(children).toHaveLength(3);
});

test('closing does not wait for a process that a signal has ended', async () => {
  const simulator = await open();
  first.end('SIGKILL');
  await simulator.close();
  await pass(restartDelayMs);
  expect(children).toHaveLength(1);
});

test('the demo keeps no requests: every user of the machine can reach its port', async () => {
  vi.useRealTimers();
  const simulator = await startSimulatorProcess(
    logger,
    mkdtempSync(join(tmpdir(), 'sluice-')),
    () => {},
  );
  onTestFinished(() => simulator.close());
  const url = simulator.url();
  const asked = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer key' },
    body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'secret' }] }),
  });
  expect(await asked.text()).toContain('secret');
  expect(await (await fetch(`${url}/__requests`)).text()).not.toContain('secret');
});
