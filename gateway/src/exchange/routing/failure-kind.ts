/** Why a channel could not answer; one kind among all attempts decides the client's final error. */
export type FailureKind = 'abnormal' | 'overloaded' | 'rate-limited' | 'model-missing';
