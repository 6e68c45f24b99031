/** A request that is being sent to an upstream: what it may bill if nothing more is heard of it. */
export interface Intent {
  /** The `x-request-id` of the exchange. */
  readonly id: string;
  /** Its number among the attempts of the exchange, from 1. */
  readonly attempt: number;
  /** Unix milliseconds. */
  readonly time: number;
  readonly keyId: string;
  readonly userId: string;
  readonly teamId: string | null;
  /** As the client wrote it. */
  readonly model: string;
  /** The channel's name. */
  readonly channel: string;
  /** Nano-USD, the most that the exchange can cost; null if nothing is charged for it. */
  readonly held: bigint | null;
}

/** The amount as decimal digits. */
type IntentValues = readonly [
  id: string,
  attempt: number,
  time: number,
  keyId: string,
  userId: string,
  teamId: string | null,
  model: string,
  channel: string,
  held: string | null,
];

function toText(intent: Intent): string {
  const { id, attempt, time, keyId, userId, teamId, model, channel, held } = intent;
  const values: IntentValues = [
    id,
    attempt,
    time,
    keyId,
    userId,
    teamId,
    model.slice(0, 200).toWellFormed().replaceAll('\0', '\ufffd'),
    channel,
    held === null ? null : String(held),
  ];
  return JSON.stringify(values);
}

export function readIntents(text: string): Intent[] {
  return (JSON.parse(`[${text}]`) as IntentValues[]).map(
    ([id, attempt, time, keyId, userId, teamId, model, channel, held]) => ({
      id,
      attempt,
      time,
      keyId,
      userId,
      teamId,
      model,
      channel,
      held: held === null ? null : BigInt(held),
    }),
  );
}

/** An intent that is still open is written again after this time or this much, so that it is found near the end. */
const againAfter = 30_000;
const againAfterBytes = 8 * 2 ** 20;

interface Open {
  readonly intent: Intent;
  at: number;
  bytes: number;
}

/** The attempts under way, and which of them the journal does not have yet. */
export function createOpenIntents() {
  const openIntents = new Map<string, Open[]>();
  let unwritten: Open[] = [];

  return {
    begin(intent: Intent): void {
      const entry: Open = { intent, at: 0, bytes: 0 };
      const others = openIntents.get(intent.id);
      if (others === undefined) openIntents.set(intent.id, [entry]);
      else others.push(entry);
      unwritten.push(entry);
    },
    /** The exchange has ended: its record tells the rest. */
    end(id: string): void {
      openIntents.delete(id);
    },
    get hasUnwritten() {
      return unwritten.length > 0;
    },
    /**
     * Those to write now; what has ended meanwhile needs no intent. Null: none.
     * @param now milliseconds of a monotonic clock
     * @param bytes all that the journal was given so far
     */
    take(now: number, bytes: number): string | null {
      if (unwritten.length === 0) return null;
      const entries = unwritten.filter(({ intent }) => openIntents.has(intent.id));
      unwritten = [];
      for (const entry of entries) Object.assign(entry, { at: now, bytes });
      return entries.length === 0 ? null : entries.map(({ intent }) => toText(intent)).join(',');
    },
    /** Takes up again what was written long ago, or far from the end. */
    renew(now: number, bytes: number): void {
      for (const entries of openIntents.values()) {
        for (const entry of entries) {
          if (entry.at === 0) continue;
          if (now - entry.at < againAfter && bytes - entry.bytes < againAfterBytes) continue;
          entry.at = 0;
          unwritten.push(entry);
        }
      }
    },
  };
}
