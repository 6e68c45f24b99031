/** What a response reports besides tokens that affects its price. */
export interface Surcharges {
  /**
   * Terms the response was served on, each a field and its value: `service_tier.priority`, `speed.fast`,
   * `inference_geo.us`. Lower case, one per field.
   */
  readonly reported: readonly string[];
  /** Searches that the provider made. */
  readonly webSearches: number;
  /** Tokens that the provider's image tool used beside those of the model. Absent: none. */
  readonly imageTokens?: number;
}
