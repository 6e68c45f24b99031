import { watchList } from '#json/index.ts';
import { createOpenRequest } from '../../shared/text/parse-bodies.ts';
import {
  readOutputKinds,
  readCount,
  readFlag,
  requireOneOf,
} from '../../shared/text/request-values.ts';
import type { OpenedRequest, WireRequest } from '../../protocol.ts';
import { askedTerms, routerTerms } from '../../shared/usage/terms.ts';
import { isWebSearch, recordsIn } from '../../shared/text/input-extent.ts';
import type { JsonRecord } from '../../shared/values.ts';
import { inputExtent } from './input-extent.ts';
import { isKept, readNamedState } from './state-members.ts';
import { readNumeral, readYesNo } from './repairs/index.ts';

export const openRequest = createOpenRequest(
  watchList([
    'model',
    'messages',
    'stream',
    'max_tokens',
    'temperature',
    'container',
    'service_tier',
    'speed',
    'inference_geo',
    'tools',
    'mcp_servers',
    'models',
    'fallbacks',
    'anthropic_beta',
  ]),
);

/** @throws GatewayError as `Protocol.readRequest` says. */
export function readRequest(opened: OpenedRequest): WireRequest {
  const { json } = opened;
  requireOneOf([json['messages']], 'messages');
  const extent = inputExtent(json);
  return {
    ...opened,
    terms: [...askedTerms(json, 'service_tier', 'speed', 'inference_geo'), ...routerTerms(json)],
    ...(json['anthropic_beta'] !== undefined && { betas: betasOf(json['anthropic_beta']) }),
    ...(extent.hostedTools && searches(json)),
    stream: readFlag(readYesNo(json['stream']), 'stream'),
    maxOutputTokens: readCount(readNumeral(json['max_tokens']), 'max_tokens', 0),
    choices: 1,
    named: readNamedState(json, opened.body),
    isKept: isKept(json),
    extent,
    outputKinds: readOutputKinds(undefined, false),
  };
}

/** Some hosts expect the betas in the body, as a list. */
function betasOf(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).filter((name) => typeof name === 'string');
}

/** Null if any search tool has no limit. The upstream will refuse a limit that is not a count. */
function searches(json: JsonRecord): Pick<WireRequest, 'webSearches'> {
  let most: number | null | undefined;
  for (const tool of recordsIn(json['tools'])) {
    if (!isWebSearch(tool)) continue;
    const { max_uses: uses } = tool;
    most = typeof uses === 'number' && most !== null ? (most ?? 0) + uses : null;
  }
  return most === undefined ? {} : { webSearches: most };
}
