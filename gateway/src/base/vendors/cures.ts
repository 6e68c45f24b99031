import { developerAsSystem, type Quirk } from './quirks.ts';

/**
 * How a request can pass that an upstream has refused: without the reasoning state in its history, which another account,
 * model or conversation made, or with a quirk whose vendor nothing but the refusal reveals.
 */
export type Cure = { readonly kind: 'without-state' } | Quirk;

const withoutState: Cure = Object.freeze({ kind: 'without-state' });

/** A refusal whose code and text have all of these words. */
interface Refusal {
  readonly words: readonly RegExp[];
  readonly except?: RegExp;
  readonly cure: Cure;
}

/** A text may quote what the client wrote: then the request is sent once more in vain. */
const refusals: readonly Refusal[] = [
  // OpenAI and Azure (https://github.com/openai/codex/issues/8145). Without a compaction (`cmp_…`) nothing is left of the
  // conversation (https://github.com/openai/codex/issues/35334).
  {
    words: [/encrypted[_ ]content/i, /invalid_encrypted|could not be/i],
    except: /for item cmp_/,
    cure: withoutState,
  },
  // OpenAI: an item without the one that it belongs to (https://github.com/vercel/ai/issues/7099).
  {
    words: [/provided without its required (following|preceding|'reasoning') item/i],
    cure: withoutState,
  },
  // Anthropic, Bedrock and Vertex (https://github.com/anthropics/claude-code/issues/10627,
  // https://github.com/anomalyco/opencode/issues/48637, https://github.com/can1357/oh-my-pi/pull/10486).
  {
    words: [/invalid [`']?(signature|data)[`']? in [`']?(redacted_)?thinking/i],
    cure: withoutState,
  },
  { words: [/thinking`? blocks in the latest assistant message cannot be/i], cure: withoutState },
  { words: [/thinking\.signature: field required/i], cure: withoutState },
  // Gemini and Vertex (https://github.com/google-gemini/gemini-cli/issues/13467,
  // https://github.com/decolua/9router/issues/301, https://github.com/lbjlaq/Antigravity-Manager/pull/3342).
  {
    words: [/thought[ _]?signature/i, /corrupted|invalid|not valid/i],
    except: /missing/i,
    cure: withoutState,
  },
  // OpenAI's reasoning models under a deployment's name (https://github.com/rcourtman/Pulse/pull/1867).
  {
    words: [/'max_tokens' is not supported/i, /'max_completion_tokens' instead/i],
    cure: {
      id: 'p8',
      protocol: 'chat',
      edit: { rename: 'max_tokens', to: 'max_completion_tokens' },
    },
  },
  // Older versions of Azure's API (https://github.com/BerriAI/litellm/issues/8855); strict servers of open models.
  {
    words: [
      /max_completion_tokens/,
      /unrecognized|unknown|extra_forbidden|extra inputs|not permitted/i,
    ],
    cure: {
      id: 'p14',
      protocol: 'chat',
      edit: { rename: 'max_completion_tokens', to: 'max_tokens' },
    },
  },
  // Templates of open models, Model Studio, SiliconFlow (https://github.com/agno-agi/agno/issues/1967,
  // https://github.com/maotoumao/Cebian/issues/46, https://github.com/peonist-ai/halogen-server/issues/3).
  {
    words: [/(tag|variant) [`'"]developer|developer is not one of|unexpected message role/i],
    cure: { id: 'p17', protocol: 'chat', edit: developerAsSystem },
  },
];

/**
 * What may cure a refusal; undefined if nothing is known to.
 * @param text its code and message
 */
export function cureOf(text: string): Cure | undefined {
  return refusals.find(
    ({ words, except }) => words.every((each) => each.test(text)) && except?.test(text) !== true,
  )?.cure;
}
