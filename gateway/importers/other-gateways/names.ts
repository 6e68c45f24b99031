import { isName } from '#config/index.ts';

/** Whether a model or a group may have this name here. */
export function isServedName(text: string): boolean {
  return text !== '' && isName(text);
}

/** Makes channel names unique: the second `openai` is `openai-2`. */
export function createChannelNames(): (wanted: string) => string {
  const takenNames = new Set<string>();
  return (wantedName) => {
    const base =
      wantedName
        .replaceAll(/\p{Cc}/gu, '')
        .slice(0, 100)
        .trim() || 'channel';
    let name = base;
    for (let count = 2; takenNames.has(name); count += 1) name = `${base}-${count}`;
    takenNames.add(name);
    return name;
  };
}
