import { embeddings } from '#protocols/index.ts';
import { asBuffer } from './bytes.ts';
import type { EmbedFacts, EmbedResult, EmbedSummary } from './embed-result.ts';
import type { Job } from './jobs.ts';
import { memberNames } from './member-names.ts';
import { factsOrRefusal } from './plain-error.ts';
import { readOrReport } from './unreadable.ts';

/** @throws GatewayError for a body that does not name a model. */
export function readEmbedJob({ body }: Extract<Job, { kind: 'embed-read' }>): EmbedSummary {
  const opened = embeddings.openRequest(asBuffer(body));
  const facts = factsOrRefusal((): EmbedFacts => {
    const { body: _, model: __, members, ...rest } = embeddings.readRequest(opened);
    return { ...rest, members: memberNames(members) };
  });
  return { model: opened.model, facts };
}

export function readEmbedResponseJob({
  body,
  echo,
}: Extract<Job, { kind: 'embed-response' }>): EmbedResult {
  return readOrReport(() => ({
    kind: 'whole',
    ...embeddings.readResponse(asBuffer(body), echo),
  }));
}
