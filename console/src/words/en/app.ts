export const app = {
  pages: 'Pages',
  overview: 'Overview',
  requests: 'Requests',
  usage: 'Usage',
  keys: 'Keys',
  models: 'Models',
  playground: 'Playground',
  health: 'Health',
  settings: 'Settings',
  run: 'Run',
  people: 'People',
  teams: 'Teams',
  signOut: 'Sign out',
  theme: 'Theme',
  light: 'Light',
  dark: 'Dark',
  system: 'System',
  language: 'Language',
  account: 'Account',
  more: 'More',
  skip: 'Skip to the content',
  insecure: 'This connection is not encrypted: others can read what you type.',
} as const;

export const palette = {
  title: 'Command palette',
  search: 'Search',
  hint: 'A page, model, key, action, or the id of a request',
  found: 'What was found',
  nothing: 'Nothing has this name.',
  page: 'Page',
  model: 'Model',
  request: 'Request',
  requestsOfKey: 'Requests of this key',
  export: 'Export as CSV',
  help: 'Keyboard shortcuts',
  filter: 'Filter, on the pages of requests, models and keys',
  rows: 'Next and previous row, on the page of requests',
  open: 'Open the row, on the page of requests',
  close: 'Close what is open',
  newKey: 'New key, on the page of keys',
} as const;

export const link = {
  gateway: 'The gateway has not answered since {{time}}. What you see is from before.',
  database:
    'The database has not answered since {{time}}. Models are served; what you see is from before.',
  now: 'Try now',
  over: 'Your session is over',
  overHint: 'Sign in again as {{email}}. What you have typed stays.',
} as const;

export const states = {
  again: 'Try again',
  failed: 'This could not be loaded',
  pageMissing: 'The gateway does not answer, or another version of it runs now. It is tried again.',
  request: 'Request id',
  forbidden: 'Your role does not allow this page. An administrator can change your role.',
  notFound: 'There is no such page.',
  toOverview: 'To the overview',
  copy: 'Copy',
  copied: 'Copied',
} as const;
