import { GatewayError } from '#errors/index.ts';
import { watchList, type Edit, replaceValue, splice } from '#json/index.ts';
import { createOpenRequest } from '../../shared/text/parse-bodies.ts';
import {
  readOutputKinds,
  readCount,
  refuseValue,
  requireOneOf,
} from '../../shared/text/request-values.ts';
import type {
  OpenedRequest,
  RequestPath,
  WireRequest,
  PatchedRequest,
  PatchTarget,
} from '../../protocol.ts';
import { isAbsent, isRecord, type JsonRecord, recordsIn } from '../../shared/values.ts';
import { requestedTerms } from '../../shared/usage/terms.ts';
import { InputTally, type InputExtent } from '../../shared/text/input-extent.ts';
import { readNamedState } from './state-members.ts';
import { camelCase, member, resourceName } from '../fields.ts';

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
export function readRequest(openedRequest: OpenedRequest): WireRequest {
  const { json, path } = openedRequest;
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
    ...openedRequest,
    terms: requestedTerms({ service_tier: tier }, 'service_tier'),
    ...(extent.hostedTools && allowsSearches(json) && { webSearches: null }),
    stream: path.stream ?? false,
    maxOutputTokens: readCount(bound, 'generationConfig.maxOutputTokens', 0),
    choices: readCount(candidates, 'generationConfig.candidateCount', 1) ?? 1,
    namedStates: readNamedState(json, openedRequest.body),
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

/** What the bytes of a request do not reveal about its input. */
function inputExtent(json: JsonRecord): InputExtent {
  const tally = new InputTally();
  if (member(json, 'cachedContent') !== undefined) tally.file(null);
  for (const spokenContent of [json['contents'], member(json, 'systemInstruction')]) {
    for (const { parts } of records(spokenContent))
      for (const part of records(parts)) addPart(tally, part);
  }
  const isHosted = (name: string): boolean => camelCase(name) !== 'functionDeclarations';
  tally.hostedTools = records(json['tools']).some((tool) => Object.keys(tool).some(isHosted));
  return tally;
}

function addPart(tally: InputTally, part: JsonRecord): void {
  const inlineData = member(part, 'inlineData');
  if (isRecord(inlineData)) tally.data(member(inlineData, 'mimeType'), member(inlineData, 'data'));
  const fileData = member(part, 'fileData');
  if (isRecord(fileData)) {
    const mime = member(fileData, 'mimeType');
    tally.url(member(fileData, 'fileUri'), typeof mime === 'string' && /^\s*image\//i.test(mime));
  }
  const response = member(part, 'functionResponse');
  if (isRecord(response)) for (const inner of records(response['parts'])) addPart(tally, inner);
}

/** This API's reader of proto3 JSON accepts a single object in place of a list. */
function records(value: unknown): readonly JsonRecord[] {
  return recordsIn(isRecord(value) ? [value] : value);
}

/**
 * The model is in the path. If the body names one too, it must be the same: otherwise an upstream that reads the body
 * would serve a model that was neither authorised nor priced.
 */
export function patchRequest(request: WireRequest, target: PatchTarget): PatchedRequest {
  const { scan, body } = request;
  const name = resourceName(target.upstreamModel);
  const edits: Edit[] = [];
  for (const path of ['model', 'generateContentRequest.model']) {
    const member = scan.members.get(path);
    if (member === undefined) continue;
    const writtenModel: unknown = JSON.parse(
      body.toString('utf8', member.valueStart, member.valueEnd),
    );
    if (writtenModel !== name && writtenModel !== target.upstreamModel)
      edits.push(replaceValue(member, name));
  }
  return { body: splice(body, edits), rewrites: [], usageInjected: false };
}
