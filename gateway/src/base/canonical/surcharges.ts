/** What an answer says besides its tokens that its price depends on. */
export interface Surcharges {
  /**
   * Terms that the answer was given on, each a field and its value: `service_tier.priority`, `speed.fast`,
   * `inference_geo.us`. In lower case, one for each field.
   */
  readonly reported: readonly string[];
  /** Searches that the provider made. */
  readonly webSearches: number;
}
