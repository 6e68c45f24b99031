/** The kind of item as which a client of Responses reads the calls of a tool with a type of its own. */
export type ClientItem =
  | 'shell_call'
  | 'local_shell_call'
  | 'apply_patch_call'
  | 'computer_call'
  | 'tool_search_call';
