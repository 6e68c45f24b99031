import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Caller, CallerTeam, CallerUser } from '../gateway/src/access/identity/index.ts';
import {
  createBilling,
  textBound,
  tokenLines,
  type PriceRates,
} from '../gateway/src/money/billing/index.ts';
import type { Group, Model } from '../gateway/src/access/catalogue/index.ts';
import {
  createMemoryMoney,
  createMemoryRates,
  type RateLimit,
} from '../gateway/src/money/limits/index.ts';

/*
 * Run it by itself: measures the cost of admitting one request with 100 000 known keys of 10 000 users, without the
 * request around it. Prints one line of JSON.
 */

const keys = 100_000;
const users = 10_000;
const teams = 100;
const requests = 400_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const funding = 10n ** 15n;
const user = (at: number): CallerUser => ({ id: `usr_${at}`, funding, quota: null });
const team = (at: number): CallerTeam => ({
  id: `team_${at}`,
  name: `team ${at}`,
  funding,
  rpm: 10_000_000,
  dailyBudget: funding,
  monthlyBudget: null,
  totalBudget: null,
  enabled: true,
  unleasedMost: null,
  timeZone: 'Europe/Berlin',
  openWindow: null,
});
const allUsers = Array.from({ length: users }, (_, at) => user(at));
const allTeams = Array.from({ length: teams }, (_, at) => team(at));
const callers = Array.from({ length: keys }, (_, at): Caller => {
  const ofUser = allUsers[at % users]!;
  // Every fifth acts for a team.
  const ofTeam = at % 5 === 0 ? allTeams[at % teams]! : null;
  return {
    keyId: `key_${at}`,
    keyName: `key ${at}`,
    userId: ofUser.id,
    teamId: ofTeam?.id ?? null,
    user: ofUser,
    team: ofTeam,
    memberBudget: null,
    group: 'default',
    models: null,
    ips: [],
    expiresAt: null,
    quota: at % 2 === 0 ? funding : null,
    rpm: 600,
    rph: 10_000,
    maxConcurrency: 20,
    conversion: 'lenient',
    capOutput: true,
    enabled: true,
  };
});
const limitsOf = ({ keyId, rpm, rph, maxConcurrency }: Caller): RateLimit[] => [
  { name: `key:${keyId}:rpm`, limit: rpm ?? 0, windowMs: 60_000 },
  { name: `key:${keyId}:rph`, limit: rph ?? 0, windowMs: 3_600_000 },
  { name: `key:${keyId}:concurrency`, limit: maxConcurrency ?? 0, windowMs: 0 },
];

const group: Group = { name: 'default', priceMultiplier: '1' };
const model = {
  id: 'm',
  type: 'chat',
  price: { input: '1', output: '2' },
  priceVersion: 'v1',
  maxOutputTokens: 8_192,
  contextWindow: 128_000,
} as unknown as Model;
const tokens = {
  input: 500,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: 200,
  reasoning: 0,
};

collect();
const heapBefore = process.memoryUsage().heapUsed;
const rates = createMemoryRates({ monotonic: () => performance.now(), liveNodes: () => 1 });
const money = createMemoryMoney({
  now: Date.now,
  monotonic: () => performance.now(),
  spentSource: async () => new Map(),
});
const billing = createBilling({ money, now: Date.now });

const bound = (rates: PriceRates) =>
  textBound(rates, model, { bodyBytes: 1_500, outputLimit: 1_000, choices: 1 });
const lines = (rates: PriceRates) => tokenLines(rates, tokens);

async function admit(number: number, caller: Caller): Promise<void> {
  const id = `req_${number}`;
  const decision = await rates.checkRates({ id, limits: limitsOf(caller) });
  if (!decision.admitted) throw new Error(`refused by ${decision.denied}`);
  const held = billing.hold({
    id,
    caller,
    model,
    group,
    bound,
    expiresAt: Date.now() + 1_800_000,
  });
  const hold = held instanceof Promise ? await held : held;
  if (hold === null) throw new Error('it is not free');
  billing.commitHold(hold, billing.charge(hold, lines, 'reported'));
  rates.leave(id);
}

let number = 0;
for (const caller of callers) await admit((number += 1), caller);
collect();
const heap = process.memoryUsage().heapUsed - heapBefore;

// Keys come in no order: 7 919 is prime.
const before = process.cpuUsage();
for (let at = 0; at < requests; at++) await admit((number += 1), callers[(at * 7_919) % keys]!);
const { user: inUser, system } = process.cpuUsage(before);
process.stdout.write(
  `${JSON.stringify({ microseconds: (inUser + system) / requests, bytes: heap })}\n`,
);
