import type { Command, Outcome, Reply } from './command.ts';

/**
 * The meters of a command in groups that have no request in common. What is done about one group does not depend on the
 * others.
 */
export function groupsOf({ leases, wants }: Command): readonly ReadonlySet<string>[] {
  const groups = new Map(leases.map(({ meter }) => [meter, new Set([meter])]));
  for (const { meters } of wants) {
    const joinedGroup = groups.get(meters[0]!.name)!;
    for (const { name } of meters) {
      for (const meter of groups.get(name)!) {
        joinedGroup.add(meter);
        groups.set(meter, joinedGroup);
      }
    }
  }
  return [...new Set(groups.values())];
}

/** As much of the command as concerns these meters, which are whole groups of it. */
export function narrow(command: Command, meters: ReadonlySet<string>): Command {
  return {
    ...command,
    leases: command.leases.filter(({ meter }) => meters.has(meter)),
    wants: command.wants.filter((want) => meters.has(want.meters[0]!.name)),
  };
}

/** A reply to a part of the command, as one to all of it. */
export function withLeft(reply: Reply, command: Command, doneMeters: ReadonlySet<string>): Reply {
  if (reply.kind !== 'done' || doneMeters.size === command.leases.length) return reply;
  const outcomes = new Map<string, Outcome>(reply.outcomes);
  for (const { id } of command.wants) if (!outcomes.has(id)) outcomes.set(id, { kind: 'left' });
  const meters = command.leases.map(({ meter }) => meter);
  return { ...reply, outcomes, left: new Set(meters.filter((meter) => !doneMeters.has(meter))) };
}
