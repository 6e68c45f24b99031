/** What a client can ask for that leaves a usage row. */
export type OperationName = TextOperationName | 'embed';

/** The operations of the text endpoints. */
export type TextOperationName = 'generate' | 'count-tokens' | 'compact';
