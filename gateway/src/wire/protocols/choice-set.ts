/** Choices by their index, as bits of one number: a stream is looked at event by event, and this allocates nothing. */
export type ChoiceSet = number;

const lastBit = 30;

/** Indexes beyond the last bit share it; an index that is none counts as the first choice. */
export function choiceBit(index: number): ChoiceSet {
  return 1 << Math.min(Math.max(index, 0), lastBit);
}

/** At least one choice has ended, and none that began is without its end. */
export function allEnded(begun: ChoiceSet, ended: ChoiceSet): boolean {
  return ended !== 0 && (begun & ~ended) === 0;
}
