import { beforeEach, describe, expect, it } from 'vitest';
import { GroupCommit } from '#journal/group-commit.ts';

describe('group commit', () => {
  let sent: string[];
  let probes: number;
  let timers: (() => void)[];
  let commits: GroupCommit;
  beforeEach(() => {
    sent = [];
    probes = 0;
    timers = [];
    commits = new GroupCommit({
      send: (lines) => void sent.push(lines),
      probe: () => {
        probes += 1;
      },
      defer: setImmediate,
      schedule: (run) => {
        timers.push(run);
      },
      rejection: (reason) => new Error(reason),
    });
  });
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  const runTimers = () => timers.splice(0).forEach((run) => run());
  const outcome = (promise: Promise<void>) =>
    promise.then(
      () => 'written',
      (error: Error) => error.message,
    );

  it('writes a lone record at once, and later arrivals together', async () => {
    const first = outcome(commits.append('1'));
    await settle();
    expect(sent).toEqual(['1']);
    const others = ['2', '3', '4'].map((line) => outcome(commits.append(line)));
    await settle();
    expect(sent).toEqual(['1']);
    commits.done();
    expect(await first).toBe('written');
    await settle();
    expect(sent).toEqual(['1', '2,3,4']);
    commits.done();
    expect(await Promise.all(others)).toEqual(['written', 'written', 'written']);
    expect(commits.idle).toBe(true);
  });

  it('never waits for more records, however fast they arrive', async () => {
    for (let number = 0; number < 1_000; number += 1) {
      const pair = [commits.append(`${number}a`), commits.append(`${number}b`)];
      await settle();
      expect(sent.at(-1)).toBe(`${number}a,${number}b`);
      commits.done();
      await Promise.all(pair);
    }
    expect(timers).toEqual([]);
  });

  it('acknowledges nothing before it is written', async () => {
    let acknowledged = false;
    void commits.append('1').then(() => {
      acknowledged = true;
    });
    await settle();
    expect(acknowledged).toBe(false);
    commits.done();
    await settle();
    expect(acknowledged).toBe(true);
  });

  it('retries a failed batch', async () => {
    const response = outcome(commits.append('1'));
    await settle();
    commits.failed('EIO');
    commits.failed('EIO');
    runTimers();
    expect(sent).toEqual(['1', '1', '1']);
    expect(commits.broken).toBeNull();
    commits.done();
    expect(await response).toBe('written');
  });

  it('accepts nothing after three failures until a probe is written', async () => {
    const waiting = [outcome(commits.append('1'))];
    await settle();
    waiting.push(outcome(commits.append('2')));
    for (let count = 0; count < 3; count++) commits.failed('EIO');
    expect(await Promise.all(waiting)).toEqual(['EIO', 'EIO']);
    expect(await outcome(commits.append('3'))).toBe('EIO');
    runTimers();
    commits.failed('EIO');
    expect(commits.broken).toBe('EIO');
    timers.splice(0, timers.length - 1);
    runTimers();
    expect(probes).toBeGreaterThan(0);
    commits.done();
    expect(commits.broken).toBeNull();
    const response = outcome(commits.append('4'));
    await settle();
    expect(sent.at(-1)).toBe('4');
    commits.done();
    expect(await response).toBe('written');
  });

  it('closed while the disk accepts nothing, it stops asking and stays closed', async () => {
    const response = outcome(commits.append('1'));
    await settle();
    for (let failure = 0; failure < 3; failure += 1) {
      commits.failed('EIO');
      runTimers();
    }
    expect(await response).toBe('EIO');
    expect(probes).toBe(1);
    commits.failed('EIO');
    commits.end('stopping');
    runTimers();
    // What was on its way when it ended.
    commits.failed('EIO');
    expect([probes, timers]).toEqual([1, []]);
    commits.done();
    expect(await outcome(commits.append('2'))).toBe('stopping');
  });
});
