import { ownItems, textProtocols, type NamedItem } from '#protocols/index.ts';
import { asBuffer } from './bytes.ts';
import type { Job } from './jobs.ts';

/** @throws GatewayError for a body that cannot be read */
export function nameItemsJob(job: Extract<Job, { kind: 'item-names' }>): {
  readonly names: readonly NamedItem[];
} {
  return { names: ownItems.names(parsed(job)) };
}

/** The body with the items in the place of their names. */
export function putItemsJob(job: Extract<Job, { kind: 'item-texts' }>): { readonly body: Buffer } {
  return { body: ownItems.withTexts(parsed(job), new Map(job.texts)) };
}

function parsed({ protocol, body, path }: Extract<Job, { kind: 'item-names' | 'item-texts' }>) {
  return textProtocols[protocol].openRequest(asBuffer(body), path).json;
}
