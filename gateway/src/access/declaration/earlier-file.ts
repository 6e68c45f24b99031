import { DeclarationConflict } from './apply.ts';
import type { FileInForce } from './file-revisions.repository.ts';

/** A node's file is an earlier one than the file in force, whose changes it would undo. */
export class EarlierFile extends DeclarationConflict {
  constructor(inForce: FileInForce) {
    super([earlierFile(inForce)]);
    this.name = 'EarlierFile';
  }
}

/** For people: what is in force instead, and what to do. */
export function earlierFile({ node, time }: FileInForce): string {
  const since = new Date(time).toISOString();
  return `an earlier file: ${node} has put another one in force since (${since}); bring this one up to date, or put it in force with sluice apply --take-over`;
}
