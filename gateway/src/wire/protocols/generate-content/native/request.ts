import { GatewayError } from '#errors/index.ts';
import { watchList } from '#json/index.ts';
import { createOpenRequest } from '../../shared/text/parse-bodies.ts';
import {
  readOutputKinds,
  readCount,
  refuseValue,
  requireOneOf,
} from '../../shared/text/request-values.ts';
import type { OpenedRequest, RequestPath, WireRequest } from '../../protocol.ts';
import { isAbsent, isRecord, type JsonRecord } from '../../shared/values.ts';
import { askedTerms } from '../../shared/usage/terms.ts';
import { recordsIn } from '../../shared/text/input-extent.ts';
import { inputExtent } from './input-extent.ts';
import { readNamedState } from './state-members.ts';

/** The model and whether to stream come from the path. */
export const openRequest = createOpenRequest(
  watchList(
    [
      'model',
      'contents',
      'cachedContent',
      'serviceTier',
      'tools',
      'systemInstruction',
      'generationConfig.maxOutputTokens',
      'generationConfig.candidateCount',
      'generationConfig.responseModalities',
      'generateContentRequest.model',
      'generateContentRequest.contents',
    ],
    { snakeCaseToo: true },
  ),
  modelInPath,
);

function modelInPath({ model }: RequestPath): string {
  if (model === null || model === '') throw new GatewayError('model_required');
  return model;
}

/** @throws GatewayError as `Protocol.readRequest` says. */
export function readRequest(opened: OpenedRequest): WireRequest {
  const { json, path } = opened;
  requireOneOf([json['contents'], wrappedContents(json, path)], 'contents');
  const config = json['generationConfig'] ?? json['generation_config'];
  const options = isRecord(config) ? config : {};
  const bound = options['maxOutputTokens'] ?? options['max_output_tokens'];
  const candidates = options['candidateCount'] ?? options['candidate_count'];
  const extent = inputExtent(json);
  const tier = json['serviceTier'] ?? json['service_tier'];
  // Protocol buffers would also accept the number of an enumeration's value.
  if (!isAbsent(tier) && typeof tier !== 'string') refuseValue('serviceTier', 'must be a string');
  return {
    ...opened,
    terms: askedTerms({ service_tier: tier }, 'service_tier'),
    ...(extent.hostedTools && allowsSearches(json) && { webSearches: null }),
    stream: path.stream ?? false,
    maxOutputTokens: readCount(bound, 'generationConfig.maxOutputTokens', 0),
    choices: readCount(candidates, 'generationConfig.candidateCount', 1) ?? 1,
    named: readNamedState(json, opened.body),
    extent,
    outputKinds: readOutputKinds(
      options['responseModalities'] ?? options['response_modalities'],
      isRecord(options['speechConfig'] ?? options['speech_config']),
    ),
  };
}

/** A token count may wrap the request to be counted. */
function wrappedContents(json: JsonRecord, path: RequestPath): unknown {
  if (path.operation !== 'count-tokens') return undefined;
  const wrapped = json['generateContentRequest'] ?? json['generate_content_request'];
  return isRecord(wrapped) ? wrapped['contents'] : undefined;
}

function allowsSearches(json: JsonRecord): boolean {
  const { tools } = json;
  return recordsIn(isRecord(tools) ? [tools] : tools).some((tool) =>
    Object.keys(tool).some((name) => /^google_?search/i.test(name)),
  );
}
