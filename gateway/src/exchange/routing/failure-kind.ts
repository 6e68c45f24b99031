/** Why a channel could not respond. If all attempts have the same kind, it decides the client's final error. */
export type FailureKind =
  | 'abnormal'
  | 'credential-refused'
  | 'overloaded'
  | 'rate-limited'
  | 'model-missing';
