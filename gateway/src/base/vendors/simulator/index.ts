import { protocolNames, type ProtocolName } from '#canonical/index.ts';
import { anthropicHeaders, anthropicPath, anthropicSurcharges } from '../anthropic/index.ts';
import { arkTasks, contentsPath } from '../ark/index.ts';
import { dashscopeTasks, synthesisPath } from '../dashscope/index.ts';
import { geminiHeaders, geminiPath, geminiSurcharges } from '../gemini/index.ts';
import { bearer, openAiPath, openAiSurcharges } from '../openai/index.ts';
import { joined } from '../surcharges.ts';
import type { UpstreamTarget, Vendor } from '../vendor.ts';

const synthesisBase = '/api/v1';
const contentsBase = '/api/v3';

/**
 * The built-in simulator: every protocol under one origin, each below its vendor's own version path. So the
 * version is part of the path here and not of the base URL.
 */
export const simulator = {
  name: 'simulator',
  baseUrl: null,
  versionPath: '',
  protocols: protocolNames,
  environmentKey: null,
  ownedBy: 'sluice-demo',
  runsHere: true,
  countsTokensIn: ['messages', 'generate-content', 'responses'],
  compacts: true,
  path(target: UpstreamTarget): string {
    switch (target.protocol) {
      case 'messages':
        return `/v1${anthropicPath(target)}`;
      case 'generate-content':
        return `/v1beta${geminiPath(target)}`;
      case 'video-synthesis':
        return synthesisBase + synthesisPath;
      case 'video-contents':
        return contentsBase + contentsPath;
      default:
        return `/v1${openAiPath(target)}`;
    }
  },
  headers(secret: string | null, protocol: ProtocolName) {
    // It accepts any credential and wants one, as the vendors do; a channel need not name it.
    const credential = secret ?? 'simulator';
    switch (protocol) {
      case 'messages':
        return anthropicHeaders(credential);
      case 'generate-content':
        return geminiHeaders(credential);
      default:
        return bearer(credential);
    }
  },
  // Requests for faults.
  forwards: (header: string) => header.startsWith('x-simulator-'),
  surcharges: joined(openAiSurcharges, anthropicSurcharges, geminiSurcharges),
  tasks: {
    'video-synthesis': dashscopeTasks(synthesisBase),
    'video-contents': arkTasks(contentsBase),
  },
} satisfies Vendor;
