export const clients = {
  title: 'Clients',
  places: {
    shell: 'In a shell',
    cline: 'In Cline: Settings, API Configuration',
    cursor: 'In Cursor: Settings, Models, API Keys',
    openWebUi: 'Variables of its container, or Admin Settings, Connections',
  },
  notes: {
    claudeCode:
      'The address has no /v1 here. To keep it, put the variables into env of ~/.claude/settings.json.',
    geminiNeedsHttps:
      'Gemini CLI refuses plain http to any other machine than its own: put https in front of this gateway.',
    cursor:
      'The servers of Cursor send the requests, so they must be able to reach this address. Tab completion does not come here.',
    openWebUi: 'It lists the models by itself. In Docker, localhost is host.docker.internal.',
  },
  tried: 'Tried with {{version}}.',
  untried: 'Not tried with {{client}} yet: written by its documentation.',
} as const;
