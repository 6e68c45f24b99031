import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Breaker, type Permit } from './breaker.ts';

const plain = (breaker: Breaker): Permit => ({ generation: breaker.generation, probe: false });
const probe = (breaker: Breaker): Permit => {
  breaker.beginProbe();
  return { generation: breaker.generation, probe: true };
};
const eject = (breaker: Breaker, now: number): void => {
  for (let fault = 1; fault <= 5; fault += 1) {
    expect(breaker.fail(plain(breaker), now)).toBe(fault === 5);
  }
};

describe('the breaker', () => {
  test('R-09: five faults in a row eject for 30 s, four do not', () => {
    const breaker = new Breaker();
    for (let fault = 0; fault < 4; fault += 1) breaker.fail(plain(breaker), 0);
    breaker.succeed(plain(breaker), 0);
    expect(breaker.standing(0)).toBe('in-use');
    eject(breaker, 1_000);
    expect(breaker.standing(30_999)).toBe('ejected');
    expect(breaker.standing(31_000)).toBe('probe-due');
  });

  test('R-10: during a probe there is no other probe', () => {
    const breaker = new Breaker();
    eject(breaker, 0);
    const permit = probe(breaker);
    expect(breaker.standing(1_000_000)).toBe('ejected');
    breaker.release(permit);
    expect(breaker.standing(1_000_000)).toBe('probe-due');
  });

  test('R-09: each failed probe ejects for 30 s more, up to 300 s', () => {
    const breaker = new Breaker();
    eject(breaker, 0);
    let now = 0;
    for (let ejections = 2; ejections < 14; ejections += 1) {
      now = breaker.until;
      expect(breaker.fail(probe(breaker), now)).toBe(true);
      expect(breaker.until - now).toBe(Math.min(ejections * 30_000, 300_000));
    }
  });

  test('a successful probe ends the ejection; soon after, its past still counts, later it does not', () => {
    const breaker = new Breaker();
    eject(breaker, 0);
    expect(breaker.succeed(probe(breaker), 30_000)).toBe(true);
    expect(breaker.standing(30_000)).toBe('in-use');
    eject(breaker, 60_000);
    expect(breaker.until).toBe(60_000 + 60_000);
    breaker.succeed(probe(breaker), 120_000);
    eject(breaker, 120_000 + 300_000);
    expect(breaker.until).toBe(420_000 + 30_000);
  });

  test('a started response ends the ejection on trial: the next fault ejects again', () => {
    const breaker = new Breaker();
    eject(breaker, 0);
    const permit = probe(breaker);
    expect(breaker.begin(permit, 30_000)).toBe(true);
    expect(breaker.standing(30_000)).toBe('in-use');
    expect(breaker.fail(permit, 31_000)).toBe(true);
    expect(breaker.until).toBe(31_000 + 60_000);
  });

  test('attempts from before the ejection neither extend nor end it', () => {
    const breaker = new Breaker();
    const old = plain(breaker);
    eject(breaker, 0);
    expect(breaker.fail(old, 10)).toBe(false);
    expect(breaker.succeed(old, 10)).toBe(false);
    expect(breaker.begin(old, 10)).toBe(false);
    expect([breaker.standing(29_999), breaker.until]).toEqual(['ejected', 30_000]);
  });

  test('as the last resort: a success ends the ejection, a fault changes nothing', () => {
    const breaker = new Breaker();
    eject(breaker, 0);
    expect(breaker.fail(plain(breaker), 10)).toBe(false);
    expect(breaker.until).toBe(30_000);
    expect(breaker.succeed(plain(breaker), 20)).toBe(true);
  });

  test('in any order of events: one probe at a time, and correct ejection times', () => {
    const ends = fc.constantFrom('succeed', 'begin', 'fail', 'release');
    const step = fc.oneof(
      fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 400_000 }) }),
      fc.record({ do: fc.constant('start' as const), anyway: fc.boolean() }),
      fc.record({ do: fc.constant('end' as const), which: fc.nat(), how: ends }),
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 200 }), (steps) => {
        const breaker = new Breaker();
        const open: Permit[] = [];
        let now = 0;
        for (const each of steps) {
          if (each.do === 'wait') now += each.ms;
          if (each.do === 'start') {
            const standing = breaker.standing(now);
            if (standing === 'probe-due') open.push(probe(breaker));
            else if (standing === 'in-use' || each.anyway) open.push(plain(breaker));
          }
          if (each.do === 'end' && open.length > 0) {
            const permit = open[each.which % open.length]!;
            const [standing, ejections] = [breaker.standing(now), breaker.ejections];
            if (each.how === 'release') breaker.release(permit);
            else {
              const news = breaker[each.how](permit, now);
              if (news && each.how === 'fail') {
                expect(breaker.standing(now)).toBe('ejected');
                expect([1, ejections + 1]).toContain(breaker.ejections);
                const length = Math.min(30_000 * breaker.ejections, 300_000);
                expect(breaker.until - now).toBe(length);
              } else if (news) {
                expect(standing).not.toBe('in-use');
                expect(breaker.standing(now)).toBe('in-use');
              }
            }
            if (each.how !== 'begin') open.splice(each.which % open.length, 1);
          }
          const ejected = breaker.standing(now) !== 'in-use';
          const probes = open.filter(
            (permit) => permit.probe && permit.generation === breaker.generation,
          );
          if (ejected) expect(probes.length).toBeLessThanOrEqual(1);
          if (ejected && probes.length === 1) expect(breaker.standing(now)).toBe('ejected');
        }
      }),
      { numRuns: 500 },
    );
  });
});
