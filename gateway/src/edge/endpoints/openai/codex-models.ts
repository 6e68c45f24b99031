import type { ListedModel } from '../model-lists.ts';

/** OpenAI's models before GPT-5 take no free-form tools, which Codex' `apply_patch` is. */
const refusesFreeform = /^(?:gpt-[34]|o\d)/;

/**
 * What Codex tells a model about its work. Codex ignores the whole list if an entry has no such text, and sends it in place of
 * the text that it keeps for names it does not know, which was written for models of OpenAI.
 */
const instructions = `You are a coding agent. You work in the user's workspace through Codex, which runs the tools you call and shows your messages to the user.

# How to work
- Read before you change anything: search the workspace and open the files that matter.
- Work until the task is done. Stop at a plan only if the user asks for one. Do not guess what a file contains or what a command would print.
- Change what the task needs and nothing else, in the style of the code around it. Changes that you did not make belong to the user: leave them alone.
- Run the tests, the build or the program where there are any, and repair what you broke. Report only results that you have seen.
- Follow the instructions in files named AGENTS.md. The one closest to a changed file comes first, and what the user says comes before all of them.
- Commit, push, install or delete only if the user asks for it. Keep to the rules about the sandbox and about approvals.

# Tools
- Search with \`rg\`, and list files with \`rg --files\`.
- Call tools that do not depend on each other at once.
- If you have apply_patch, change files with it. A patch begins with \`*** Begin Patch\` and ends with \`*** End Patch\`. Each file begins with \`*** Add File: path\`, \`*** Update File: path\` or \`*** Delete File: path\`. In an update, \`@@\` begins a group of lines: each starts with a space if it stays, with \`-\` if it goes and with \`+\` if it is new. Three lines around a change are enough to find it. Every line of a new file starts with \`+\`.

# Messages
- Before a group of calls, say in one sentence what you are about to do.
- At the end, say in a few sentences what you changed, how you checked it and what is left. Name files as \`path:line\`, and do not repeat their contents.`;

const efforts = [
  { effort: 'low', description: 'Thinks little and answers soon' },
  { effort: 'medium', description: 'Thinks about as much as most tasks need' },
  { effort: 'high', description: 'Thinks long about hard tasks' },
];

/**
 * The entries of the list that Codex reads, as JSON text: `ModelInfo` in its `protocol/src/openai_models.rs`. It ignores a list with
 * an entry that it cannot read. The list takes the place of the one inside Codex (0.171), so models of OpenAI are in it, too:
 * without an entry, Codex warns and takes `apply_patch` from them. Models without text are left out.
 */
export function encodeCodexModels(models: readonly ListedModel[]): string {
  return models
    .filter(({ model }) => model.type === 'chat')
    .map(encodeCodexModel)
    .join(',');
}

function encodeCodexModel({ name, model }: ListedModel): string {
  const { capabilities, contextWindow } = model;
  const reasons = capabilities.has('reasoning');
  return JSON.stringify({
    slug: name,
    display_name: model.displayName,
    description: null,
    // The model decides as long as the user does not.
    default_reasoning_level: null,
    supported_reasoning_levels: reasons ? efforts : [],
    shell_type: 'default',
    visibility: 'list',
    supported_in_api: true,
    // The lowest number is the default of new users. No model is better than another here.
    priority: 1000,
    upgrade: null,
    base_instructions: instructions,
    supports_reasoning_summaries: reasons,
    support_verbosity: false,
    default_verbosity: null,
    apply_patch_tool_type: refusesFreeform.test(name) ? null : 'freeform',
    truncation_policy: { mode: 'bytes', limit: 10_000 },
    supports_parallel_tool_calls: capabilities.has('tools'),
    ...(contextWindow !== null && { context_window: contextWindow }),
    experimental_supported_tools: [],
    input_modalities: capabilities.has('vision') ? ['text', 'image'] : ['text'],
  });
}
