import { instructionOf, type Question, type Tool } from './question.ts';

/**
 * Which tools the response calls. `call tool NAME` in the user's text requests one call; several
 * mentions make a loop with one call per round, and `call tool NAME 3 times` makes several at once.
 * `call tools` requests one call of each tool. A forced tool choice requests the first or the named one.
 */
export function chooseCalls(question: Question): readonly Tool[] {
  const { tools, toolChoice, toolRounds } = question;
  const instruction = instructionOf(question);
  if (tools.length === 0 || toolChoice === 'none') return [];
  if (typeof toolChoice === 'object') {
    return toolRounds > 0 ? [] : tools.filter((tool) => tool.name === toolChoice.name).slice(0, 1);
  }
  if (/\bcall tools\b/i.test(instruction)) {
    if (toolRounds > 0) return [];
    return question.parallelCalls ? tools : tools.slice(0, 1);
  }
  const named = [...instruction.matchAll(/\bcall tool ([\w.:-]+)(?: (\d) times)?/gi)].flatMap(
    ([, name, times = '1']) =>
      tools
        .filter(
          (tool) => tool.name === name || `${tool.name}.` === name || `${tool.name}:` === name,
        )
        .map((tool) => Array.from({ length: Number(times) }, () => tool)),
  );
  const asked = named[toolRounds];
  if (asked !== undefined) return asked;
  return toolChoice === 'required' && toolRounds === 0 ? tools.slice(0, 1) : [];
}
