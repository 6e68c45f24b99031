import { GatewayError } from '#errors/index.ts';
import type { HoldDecision, HoldRequest, MeterState } from '../counters.ts';
import { Ended } from '../memory/ended.ts';
import { createForgetting } from '../memory/forget-idle.ts';
import type { Ask } from './ask.ts';
import type { Denials } from './denials.ts';
import type { Reply } from './link.ts';
import { refusedKey } from './rates.ts';
import { createSettlements } from './settlements.ts';
import type { Share } from './share.ts';

/** An open hold of this node. */
interface LiveHold {
  readonly amount: bigint;
  readonly meters: readonly string[];
  /** Milliseconds of the monotonic clock: a step of the wall clock neither ends nor prolongs the hold. */
  readonly voidAt: number;
  /** False if it was made in this node's share. */
  inRedis: boolean;
}

const endedIds = 65_536;
const perBatch = 200;
/** A meter may be forgotten again between the database query and the second try. */
const mostTries = 4;
/** What the scripts receive for a meter when the database did not respond. */
const notKnown = -1n;

export interface RemoteMoney {
  hold(request: HoldRequest): HoldDecision | Promise<HoldDecision>;
  commitHold(id: string, meters: readonly string[], spent: bigint): void;
  read(meter: string): Promise<MeterState | null>;
  /** Call it when Redis is back: delivers what Redis missed, and every open hold if Redis lost its data. */
  recover(ask: Ask, emptied: boolean): Promise<void>;
  close(): Promise<void>;
}

export interface RemoteMoneyOptions {
  readonly ask: Ask;
  readonly isUp: () => boolean;
  readonly prefix: string;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly monotonic: () => number;
  readonly lookUp: (meters: readonly string[]) => Promise<ReadonlyMap<string, bigint>>;
  readonly share: Share;
  readonly denials: Denials;
}

/** Money in Redis; in this node's share while Redis is lost. */
export function createRemoteMoney(options: RemoteMoneyOptions): RemoteMoney {
  const { ask, isUp, prefix, now, monotonic, lookUp, share, denials } = options;
  const meterKeys = (meter: string) =>
    [`${prefix}meter:${meter}`, `${prefix}holds:${meter}`] as const;
  const endedKey = (id: string): string => `${prefix}ended:${id}`;
  const settlements = createSettlements({ ask, isUp, monotonic, meterKeys, endedKey });
  const ended = new Ended(endedIds);
  const live = new Map<string, LiveHold>();
  const forgetVoid = createForgetting(live, ({ voidAt }) => voidAt <= monotonic());

  const remember = (request: HoldRequest, amount: bigint, inRedis: boolean): void => {
    const meters = request.meters.map(({ name }) => name);
    const voidAt = monotonic() + request.expiresAt - now();
    live.set(request.id, { amount, meters, voidAt, inRedis });
    forgetVoid(2);
  };

  const holdInShare = async (request: HoldRequest): Promise<HoldDecision> => {
    const decision = await share.hold(request, request.expiresAt - now());
    if (decision.held) remember(request, decision.amount, false);
    return decision;
  };

  /** Asks Redis for the hold, with the database's totals for meters that Redis did not know. */
  const askForHold = (
    { id, amount, meters, expiresAt }: HoldRequest,
    seeds: ReadonlyMap<string, bigint>,
    age: number,
  ): Promise<Reply> => {
    const values = [id, String(amount), String(Math.max(0, Math.round(expiresAt - now())))];
    for (const { name, limit, floor } of meters) {
      values.push(String(limit), String(floor), String(seeds.get(name) ?? ''), String(age));
    }
    return ask(
      'hold',
      [refusedKey(prefix, id), ...meters.flatMap(({ name }) => meterKeys(name))],
      values,
    );
  };

  const holdInRedis = async (request: HoldRequest): Promise<HoldDecision> => {
    let seeds: ReadonlyMap<string, bigint> = new Map();
    let askedAt = monotonic();
    for (let tries = 1; tries <= mostTries; tries += 1) {
      let reply;
      try {
        reply = await askForHold(request, seeds, Math.round((monotonic() - askedAt) * 1_000));
      } catch {
        // Redis may have made the hold anyway: its settlement ends that one too.
        const decision = await holdInShare(request);
        if (!decision.held) release(request);
        else if (isUp()) putBack(request.id, live.get(request.id)!, ask).catch(() => {});
        return decision;
      }
      const numbers = reply.slice(1);
      if (reply[0] === 'held') return held(request, numbers);
      if (reply[0] === 'refused') return { held: false, denied: null };
      // A smaller request may still find enough, so this is not remembered.
      if (reply[0] === 'short') {
        return { held: false, denied: request.meters[Number(numbers[0])]!.name };
      }
      if (reply[0] === 'denied') {
        const exhausted = request.meters[Number(numbers[0])]!;
        denials.addMeter(exhausted);
        return { held: false, denied: exhausted.name };
      }
      askedAt = monotonic();
      const names = numbers.map((at) => request.meters[Number(at)]!.name);
      seeds = new Map([...seeds, ...(await spentOn(names, reply[0] === 'doubtful'))]);
    }
    throw new GatewayError('unavailable', { cause: new Error('Redis does not hold the meter') });
  };

  /** A total that is merely doubtful stays as it is while the database is unreachable. */
  const spentOn = async (
    meters: readonly string[],
    isOptional: boolean,
  ): Promise<ReadonlyMap<string, bigint>> => {
    try {
      return await lookUp(meters);
    } catch (error) {
      if (!isOptional) throw error;
      return new Map(meters.map((meter) => [meter, notKnown]));
    }
  };

  const held = (request: HoldRequest, numbers: Reply): HoldDecision => {
    const amount = BigInt(numbers[0]!);
    for (const [at, { name }] of request.meters.entries()) {
      const [spent, held] = [numbers[at * 2 + 1]!, numbers[at * 2 + 2]!];
      share.learn(name, { spent: BigInt(spent), held: BigInt(held) });
    }
    remember(request, amount, true);
    return { held: true, amount };
  };

  const release = ({ id, meters }: HoldRequest): void =>
    settlements.add({
      id,
      meters: meters.map(({ name }) => name),
      spent: 0n,
      endedAt: monotonic(),
    });

  const putBack = async (id: string, hold: LiveHold, ask: Ask): Promise<void> => {
    const remaining = Math.round(hold.voidAt - monotonic());
    if (remaining <= 0 || !live.has(id)) return;
    const keys = [endedKey(id), ...hold.meters.flatMap(meterKeys)];
    await ask('restore', keys, [id, String(hold.amount), String(remaining)]);
    hold.inRedis = true;
  };

  const restore = async (ask: Ask, emptied: boolean): Promise<void> => {
    const forgotten = [...live].filter(([, { inRedis }]) => emptied || !inRedis);
    for (let at = 0; at < forgotten.length; at += perBatch) {
      const batch = forgotten.slice(at, at + perBatch);
      await Promise.all(batch.map(([id, hold]) => putBack(id, hold, ask)));
    }
  };

  return {
    hold(request) {
      if (!isUp()) return holdInShare(request);
      const denied = denials.ofMeters(request.meters);
      return denied === null ? holdInRedis(request) : { held: false, denied };
    },
    commitHold(id, names, spent) {
      if (!ended.add(id)) return;
      const meters = live.get(id)?.meters ?? names;
      live.delete(id);
      share.commitHold(id, spent);
      for (const meter of meters) denials.forgetMeter(meter);
      if (meters.length > 0) settlements.add({ id, meters, spent, endedAt: monotonic() });
    },
    async read(meter) {
      if (!isUp()) return share.known(meter);
      try {
        const [word, spent, held] = await ask('read', meterKeys(meter), []);
        return word === 'meter' ? { spent: BigInt(spent!), held: BigInt(held!) } : null;
      } catch {
        return share.known(meter);
      }
    },
    async recover(ask, emptied) {
      await settlements.deliver(ask);
      await restore(ask, emptied);
    },
    close: () => settlements.close(),
  };
}
