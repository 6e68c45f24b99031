/** Further members that some vendors put into an error body. */
export interface RejectionDetail {
  /** chat and responses: the field that is wrong. */
  readonly param?: string;
  /** chat and responses: the machine-readable reason. */
  readonly code?: string;
  /** chat, responses and messages: overrides the type that follows from the status. */
  readonly type?: string;
  /** generate-content: the `details` list. */
  readonly details?: readonly unknown[];
}

/**
 * The simulated vendor refuses a request. Validators throw it, and each protocol renders it in its
 * own error shape.
 */
export class Rejection extends Error {
  readonly status: number;
  readonly detail: RejectionDetail;

  constructor(status: number, message: string, detail: RejectionDetail = {}) {
    super(message);
    this.name = 'Rejection';
    this.status = status;
    this.detail = detail;
  }
}
