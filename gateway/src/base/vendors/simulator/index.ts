import { protocolNames, type ProtocolName } from '#canonical/index.ts';
import { anthropicHeaders, anthropicPaths, anthropicSurcharges } from '../anthropic/index.ts';
import { arkTasks, arkPaths } from '../ark/index.ts';
import { dashscopeTasks, dashscopePaths } from '../dashscope/index.ts';
import { geminiHeaders, geminiPaths, geminiSurcharges } from '../gemini/index.ts';
import { openAiModels } from '../model-lists.ts';
import { bearer, openAiPaths, openAiSurcharges } from '../openai/index.ts';
import { joinedSurcharges, pathsBelow, type Vendor } from '../vendor.ts';

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
  paths: {
    ...pathsBelow('/v1', openAiPaths),
    ...pathsBelow('/v1', anthropicPaths),
    ...pathsBelow('/v1beta', geminiPaths),
    ...pathsBelow(synthesisBase, dashscopePaths),
    'video-contents': { generate: contentsBase + arkPaths['video-contents'].generate },
  },
  modelList: openAiModels('/v1'),
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
  forwardedPrefix: 'x-simulator-',
  surcharges: joinedSurcharges(openAiSurcharges, anthropicSurcharges, geminiSurcharges),
  tasks: {
    'video-synthesis': dashscopeTasks(synthesisBase),
    'video-contents': arkTasks(contentsBase),
  },
} satisfies Vendor;
