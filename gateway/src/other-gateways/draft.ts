import type { DeclaredPrice, ProviderName } from '../config/index.ts';
import { isName } from '../config/leaf.ts';
import { createVariableNames, Placeholder } from '../declaration/index.ts';

/** What was read of another gateway, in our words, before it is written as a file. */
export interface Draft {
  readonly channels: readonly DraftChannel[];
  /** What the other gateway knows of models beyond their names, by the name that clients use. */
  readonly models: ReadonlyMap<string, DraftModel>;
  /** Name → a name that clients use. */
  readonly aliases: ReadonlyMap<string, string>;
  /** The first key: null where there is none to carry. */
  readonly key: { readonly name: string; readonly secret: Placeholder | null } | null;
}

export interface DraftChannel {
  readonly name: string;
  readonly provider: ProviderName;
  /** Null: the provider's own. */
  readonly baseUrl: string | Placeholder | null;
  readonly apiKeys: readonly Placeholder[];
  readonly groups: readonly string[];
  readonly models: readonly { readonly name: string; readonly upstream: string }[];
  readonly priority: number;
  readonly weight: number;
  readonly headers: Readonly<Record<string, Placeholder>>;
  readonly enabled: boolean;
}

export interface DraftModel {
  readonly price: DeclaredPrice | null;
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
}

/**
 * What a person has to be told: what could not be carried, and which variables the written file wants. Texts name
 * settings, channels and models of the other gateway, and never a value that may be a secret.
 */
export interface Notes {
  readonly warnings: readonly string[];
  readonly variables: readonly string[];
  warn(sentence: string): void;
  /** One sentence for a setting of many entries: `timeout` of `gpt-4o`, of `fast`, … */
  leftOut(setting: string, of: string): void;
  /** Names of variables that mean something already, and are given to no secret. */
  reserve(names: Iterable<string>): void;
  /** A variable that the other gateway reads too. */
  variable(name: string): Placeholder;
  /** A variable for a secret that stood in the other file, or that its export does not hold. */
  secret(owner: string, what: string): Placeholder;
}

/** Settings are named for so many entries, and then counted. */
const named = 3;

export function createNotes(): Notes {
  const sentences: string[] = [];
  const settings = new Map<string, Set<string>>();
  const variables = new Set<string>();
  const reserved = new Set<string>();
  const nameOf = createVariableNames();
  const use = (name: string): Placeholder => {
    variables.add(name);
    return new Placeholder(name);
  };
  return {
    get warnings() {
      const list = Array.from(settings, ([setting, owners]) => {
        const names = [...owners];
        const more = names.length > named ? ` and ${names.length - named} more` : '';
        return `${setting} of ${names.slice(0, named).join(', ')}${more}: not carried`;
      });
      return [...sentences, ...list];
    },
    get variables() {
      return [...variables];
    },
    warn(sentence) {
      if (!sentences.includes(sentence)) sentences.push(sentence);
    },
    leftOut(setting, of) {
      settings.set(setting, (settings.get(setting) ?? new Set()).add(of));
    },
    reserve(names) {
      for (const name of names) reserved.add(name);
    },
    variable: use,
    secret(owner, what) {
      let name = nameOf(owner, what);
      while (variables.has(name) || reserved.has(name)) name = nameOf(owner, what);
      return use(name);
    },
  };
}

/** Names of channels, each once: the second `openai` is `openai-2`. */
export function createChannelNames(): (wanted: string) => string {
  const taken = new Set<string>();
  return (wanted) => {
    const base =
      wanted
        .replaceAll(/\p{Cc}/gu, '')
        .slice(0, 100)
        .trim() || 'channel';
    let name = base;
    for (let count = 2; taken.has(name); count += 1) name = `${base}-${count}`;
    taken.add(name);
    return name;
  };
}

/** Without what a channel may not have in its address: credentials, a query, slashes at the end. Null: no address. */
export function plainUrl(
  text: string,
): { readonly url: string; readonly shortened: boolean } | null {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  const shortened = url.username + url.password + url.search + url.hash !== '';
  url.username = url.password = url.search = url.hash = '';
  return { url: url.href.replace(/\/+$/, ''), shortened };
}

/** What a model or a group may be called here. */
export function isServedName(text: string): boolean {
  return text !== '' && isName(text);
}

export function hasPath(url: string): boolean {
  return /[^/]/.test(new URL(url).pathname);
}

/** Models of these names are neither chat nor anything else that is served. */
export function isOtherModel(name: string): boolean {
  return /embed|whisper|(^|[-_/])tts|rerank|moderation|dall-e|(^|[-_])mj[-_]|midjourney|suno|stable-diffusion|gpt-image|sora|bge-|speech|transcribe|realtime/i.test(
    name,
  );
}
