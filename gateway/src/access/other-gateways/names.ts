import { isName } from '#config/index.ts';

/** What a model or a group may be called here. */
export function isServedName(text: string): boolean {
  return text !== '' && isName(text);
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
