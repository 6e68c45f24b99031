/**
 * Names of environment variables for the secrets of one export: `openai-main`, `API_KEY` →
 * `OPENAI_MAIN_API_KEY`. Two secrets never share a variable.
 * @param taken names that mean something else; those that are given are added
 */
export function createVariableNames(
  taken = new Set<string>(),
): (owner: string, what: string) => string {
  return (owner, what) => {
    const words = `${owner}_${what}`.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
    const base = words.replace(/^_|_$/g, '').replace(/^(?=\d)/, 'CHANNEL_');
    let name = base;
    for (let count = 2; taken.has(name); count += 1) name = `${base}_${count}`;
    taken.add(name);
    return name;
  };
}
