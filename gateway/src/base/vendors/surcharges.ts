/** What a vendor charges for besides tokens, as far as requests ask for it. */
export interface SurchargeFacts {
  /** Terms that make a response dearer, such as `service_tier.priority`; a `*` stands for any other value of the field. */
  readonly dear: readonly string[];
  readonly betas: readonly BetaFact[];
}

/** A beta that changes what a response costs; what it needs decides whether it is passed on. */
export interface BetaFact {
  /** How its name begins. */
  readonly prefix: string;
  /** The surcharge that must have a price or be allowed. */
  readonly term?: string;
  /** The context window, in tokens, that the model must exceed. */
  readonly windowAbove?: number;
}

export const noSurcharges: SurchargeFacts = Object.freeze({ dear: [], betas: [] });

/** Whether a vendor charges more for a term. */
export function isDear({ dear }: SurchargeFacts, term: string): boolean {
  return dear.some((each) =>
    each.endsWith('.*') ? term.startsWith(each.slice(0, -1)) : each === term,
  );
}

/** Of several vendors whose protocols one upstream may speak. */
export function joined(...facts: readonly SurchargeFacts[]): SurchargeFacts {
  return Object.freeze({
    dear: facts.flatMap(({ dear }) => dear),
    betas: facts.flatMap(({ betas }) => betas),
  });
}
